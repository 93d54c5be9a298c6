import { notInDouble } from './lacks.js';

type Row = Readonly<Record<string, unknown>>;
type Value = string | number | boolean;

const TOKEN = /\s*('(?:\\.|[^'\\])*'|[(),]|[<>]=?|=|\w+)\s*/y;

type Check = (row: Row) => boolean;

/** The query that was read last: a list asks it of each run. */
let last: { query: string; check: Check } | undefined;

/**
 * Returns whether a list query selects a row. It knows what the library writes: AND, OR, IN,
 * NOT IN, STARTS_WITH, IS (NOT) NULL and comparisons, and throws for anything else.
 */
export function selects(query: string, row: Row): boolean {
  if (last?.query !== query) last = { query, check: checkOf(query) };
  return last.check(row);
}

function checkOf(query: string): Check {
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
  const comparison = (): Check => {
    const name = take(/^[A-Za-z]\w*$/);
    const operator = take(/^(IN|NOT|IS|STARTS_WITH|[<>]=?|=)$/);
    if (operator === 'IS') {
      const isNot = tokens[0] === 'NOT' && take(/^NOT$/) !== '';
      take(/^NULL$/);
      return (row) => (row[name] === undefined) !== isNot;
    }
    const isNot = operator === 'NOT' && take(/^IN$/) !== '';
    if (isNot || operator === 'IN') {
      const values = new Set<unknown>(list());
      // SQL knows nothing of what is missing.
      return (row) => row[name] !== undefined && values.has(row[name]) !== isNot;
    }
    const value = literal();
    if (operator === 'STARTS_WITH') return (row) => String(row[name]).startsWith(String(value));
    return (row) => isSo(row[name] as Value | Date | undefined, operator, value);
  };
  const term = (): Check => {
    if (tokens[0] !== '(') return comparison();
    take(/^\($/);
    const check = either();
    take(/^\)$/);
    return check;
  };
  const joined = (word: 'AND' | 'OR', part: () => Check): Check[] => {
    const parts = [part()];
    while (tokens[0] === word && take(/./)) parts.push(part());
    return parts;
  };
  const both = (): Check => {
    const parts = joined('AND', term);
    return (row) => parts.every((part) => part(row));
  };
  const either = (): Check => {
    const parts = joined('OR', both);
    return (row) => parts.some((part) => part(row));
  };
  const check = either();
  return tokens.length === 0 ? check : refuse(query, query.length - tokens.join(' ').length);
}

function isSo(found: Value | Date | undefined, operator: string, value: Value): boolean {
  if (found === undefined) return false;
  const [one, other] = found instanceof Date ? [found.getTime(), Date.parse(String(value))] : [found, value];
  return (
    (operator.includes('=') && one === other) ||
    (operator[0] === '<' ? one < other : operator[0] === '>' && one > other)
  );
}

function refuse(query: string, at: number): never {
  throw notInDouble(`the list query ${query}, near "${query.slice(at)}"`);
}
