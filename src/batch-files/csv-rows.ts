import { parse } from 'csv-parse/sync';
import type { FieldError } from '../contract/failures.js';
import { maskName } from '../contract/masking.js';
import { CLIENT_FIELDS, DETAILS_FIELDS } from '../contract/order/request.js';
import { readJson } from '../validation/json-input.js';
import { orderSchemas } from '../validation/request-schemas.js';
import { describeCharacter } from '../validation/text-kinds.js';
import { badFile } from './read-file.js';

const REQUIRED = ['order_id', 'currency', 'network', 'amount', 'wallet'];
/** Fields with columns of their own, such as `client_info.client_id`. */
const OF_PARTS = [
  ...Object.keys(CLIENT_FIELDS).map((name) => `client_info.${name}`),
  ...Object.keys(DETAILS_FIELDS).map((name) => `wallet_details.${name}`),
];
const KNOWN = [
  ...Object.keys(orderSchemas.withdraw.shape).filter((name) => name !== 'client_info'),
  ...OF_PARTS,
  'reference',
];

/** Unchecked order and reference of a row. A row with a `problem` must not be sent. */
export interface RowContent {
  order?: unknown;
  reference?: unknown;
  problem?: FieldError[];
}

/** Returns the cells of a line; undefined with bad quotes. A cell cannot contain a line break. */
function cellsOf(line: string): string[] | undefined {
  // The parser takes 0.1 ms per call, and nearly no line needs it.
  if (!line.includes('"')) return line.split(',');
  try {
    const [cells] = parse(line);
    return cells ?? [''];
  } catch {
    return undefined;
  }
}

/** Returns the columns of the header line. Throws BatchFileError with every bad column. */
export function readHeader(line: string): string[] {
  refuseOtherSeparators(line);
  const columns = cellsOf(line)?.map((name) => name.trim());
  if (!columns) throw badFile('line 1: the header has a quote that is not closed or not doubled');
  const problems = headerProblems(columns);
  if (problems.length > 0) throw badFile(`line 1: ${problems.join('; ')}`);
  return columns;
}

function refuseOtherSeparators(line: string): void {
  if (/^sep=/i.test(line)) throw badFile('line 1: a "sep=" line is no header; remove it');
  const other = [';', '\t', '|'].find((separator) => line.includes(separator));
  if (!other || line.includes(',')) return;
  throw badFile(
    `line 1: columns are separated by ${other === '\t' ? 'tabs' : `"${other}"`}; save the file with commas`,
  );
}

function headerProblems(columns: readonly string[]): string[] {
  const found = columns.flatMap((name, index) => {
    if (name === '') return [`column ${index + 1} has no name`];
    if (name === 'callback_url') return ['the worker makes the callback URL; leave column callback_url out'];
    if (!KNOWN.includes(name)) return [unknownColumn(name, index + 1)];
    return columns.indexOf(name) < index ? [`column ${name} stands there twice`] : [];
  });
  const missing = REQUIRED.filter((name) => !columns.some((column) => looksLike(column, name)));
  // Probably a first row, whose cells must not be quoted.
  if (missing.length === REQUIRED.length) return [`is no header: it must name the columns ${REQUIRED.join(', ')}`];
  const isTwice = columns.includes('wallet_details') && columns.some((name) => name.startsWith('wallet_details.'));
  return [
    // A long nonsense header must not become a long message.
    ...found.slice(0, 10),
    ...(missing.length > 0 ? [`column ${missing.join(', ')} is missing`] : []),
    ...(isTwice ? ['wallet_details is given both as one column and as columns of its own; choose one'] : []),
  ];
}

function unknownColumn(name: string, number: number): string {
  const meant = KNOWN.find((known) => looksLike(name, known));
  const characters = [...name];
  const at = characters.findIndex((character) => !/^[ -~]$/.test(character));
  const odd = characters[at];
  if (meant && odd !== undefined)
    return `column ${number} looks like ${meant}, but its character ${at + 1} is ${describeCharacter(odd)}: type the name again`;
  return meant ? `column ${maskName(name)} must be written ${meant}` : `unknown column ${maskName(name)}`;
}

/**
 * Returns true if a name looks like `known`: other case, blanks or hyphens, other scripts,
 * invisible letters.
 */
function looksLike(name: string, known: string): boolean {
  const shown = [...name.toLowerCase()].filter((character) => !/[\p{Cf}\p{Cc}\p{M}]/u.test(character));
  const same = shown.filter((character, index) => character.replace(/[ -]/, '_') === known[index]).length;
  const others = shown.filter((character) => character > '~').length;
  // Equal length alone is a coincidence.
  return shown.length === known.length && same + others >= known.length && same >= others;
}

/** Returns the order of a line. Empty cells are absent fields. */
export function readCsvRow(columns: readonly string[], line: string): RowContent {
  const cells = cellsOf(line);
  if (!cells) {
    const reason = 'has a quote that is not closed on this line or not doubled; a cell must not contain a line break';
    return { problem: [{ field: 'row', reason }] };
  }
  if (cells.length !== columns.length) {
    return { problem: [{ field: 'row', reason: `has ${cells.length} cells, the header has ${columns.length}` }] };
  }
  const order: Record<string, unknown> = {};
  const problem = columns.flatMap((column, index) => placeCell(order, column, cells[index] ?? ''));
  return { order, ...(problem.length > 0 && { problem }) };
}

/** Stores a cell by its column. Returns its errors. */
function placeCell(order: Record<string, unknown>, column: string, cell: string): FieldError[] {
  if (cell === '') return [];
  const field = `order.${column}`;
  if (column === 'wallet_details') {
    const { value, errors, problem } = readJson(cell, field);
    order[column] = value;
    return problem ? [{ field, reason: problem }] : errors;
  }
  // Anything but digits stays text, which the order's check refuses.
  const isWhole = column === 'delay_order_for_minutes' && /^\d{1,9}$/.test(cell);
  const [outer = column, inner] = column.split('.');
  if (inner === undefined) order[outer] = isWhole ? Number(cell) : cell;
  else order[outer] = { ...(order[outer] as object | undefined), [inner]: cell };
  return [];
}
