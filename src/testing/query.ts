import { notInDouble } from './lacks.js';

type Row = Readonly<Record<string, unknown>>;
type Value = string | number | boolean;

const TOKEN = /\s*('(?:\\.|[^'\\])*'|[(),]|[<>]=?|=|\w+)\s*/y;

/**
 * Returns whether a list query selects a row. It knows what the library writes: AND, OR, IN,
 * NOT IN, STARTS_WITH, IS (NOT) NULL and comparisons, and throws for anything else.
 */
export function selects(query: string, row: Row): boolean {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  for (let at = 0; at < query.length; at = TOKEN.lastIndex) tokens.push(TOKEN.exec(query)?.[1] ?? refuse(query, at));
  const take = (expected: RegExp): string => {
    const token = tokens.shift() ?? '';
    return expected.test(token) ? token : refuse(query, query.length - tokens.join(' ').length);
  };
  const literal = (): Value => {
    const text = take(/^('.*'|true|false|\d+)$/s);
    if (text.startsWith("'")) return text.slice(1, -1).replace(/\\(.)/g, '$1');
    return text === 'true' || (text !== 'false' && Number(text));
  };
  const list = (): Value[] => {
    const values: Value[] = [];
    for (let before = take(/^\($/); before !== ')'; before = take(/^[,)]$/)) values.push(literal());
    return values;
  };
  const comparison = (): boolean => {
    const found = row[take(/^[A-Za-z]\w*$/)] as Value | Date | undefined;
    const operator = take(/^(IN|NOT|IS|STARTS_WITH|[<>]=?|=)$/);
    if (operator === 'IS') {
      const isNot = tokens[0] === 'NOT' && take(/^NOT$/) !== '';
      return take(/^NULL$/) !== '' && (found === undefined) !== isNot;
    }
    if (operator === 'NOT' && take(/^IN$/)) return !list().some((value) => value === found);
    if (operator === 'IN') return list().some((value) => value === found);
    const value = literal();
    if (operator === 'STARTS_WITH') return String(found).startsWith(String(value));
    if (found === undefined) return false;
    const [one, other] = found instanceof Date ? [found.getTime(), Date.parse(String(value))] : [found, value];
    return (
      (operator.includes('=') && one === other) ||
      (operator[0] === '<' ? one < other : operator[0] === '>' && one > other)
    );
  };
  const term = (): boolean => {
    if (tokens[0] !== '(') return comparison();
    take(/^\($/);
    const is = either();
    return take(/^\)$/) !== '' && is;
  };
  const joined = (word: 'AND' | 'OR', part: () => boolean): boolean[] => {
    const parts = [part()];
    while (tokens[0] === word && take(/./)) parts.push(part());
    return parts;
  };
  const either = (): boolean => joined('OR', () => joined('AND', term).every(Boolean)).some(Boolean);
  const is = either();
  return tokens.length === 0 ? is : refuse(query, query.length - tokens.join(' ').length);
}

function refuse(query: string, at: number): never {
  throw notInDouble(`the list query ${query}, near "${query.slice(at)}"`);
}
