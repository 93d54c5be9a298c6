import { CLIENT_FIELDS, DETAILS_FIELDS, REQUEST_FIELDS } from '../contract/order/request.js';

const figuresOf = (rules: Readonly<Record<string, { cell: string }>>, parent = ''): string[] =>
  Object.entries(rules).flatMap(([name, { cell }]) => (cell === 'figures' ? [`${parent}${name}`] : []));

/** Columns whose cells a spreadsheet takes for numbers or formulas. Names of people may well begin with an apostrophe. */
const NUMBER_LIKE = new Set([
  ...figuresOf(REQUEST_FIELDS),
  ...figuresOf(CLIENT_FIELDS, 'client_info.'),
  ...figuresOf(DETAILS_FIELDS, 'wallet_details.'),
]);

const AS_TEXT = 'format the column as text and enter it again';

const DAMAGE: readonly [sign: RegExp, reason: string][] = [
  [/^[-+]?\d+([.,]\d+)?E\+\d+$/i, `a spreadsheet turned it into a rounded number and lost its digits: ${AS_TEXT}`],
  [/^=/, 'is a formula of a spreadsheet, not its value: write the bare value'],
  [/^'/, 'begins with an apostrophe that a spreadsheet puts before text: write the bare value'],
  [/^#(N\/A|VALUE!|REF!|NAME\?|DIV\/0!|NUM!|NULL!|#*)$/, 'is an error value of a spreadsheet'],
];

const AMOUNT_DAMAGE: readonly [sign: RegExp, reason: string][] = [
  [/^[-+]?\d+([.,]\d+)?E-\d+$/i, `a spreadsheet wrote it with an exponent: ${AS_TEXT}`],
  [/^\d+,\d+$/, 'has a decimal comma: write a point'],
  [/^\d{1,3}([ ,'’\u00a0\u202f]\d{3})+([.,]\d+)?$/, 'has separators between thousands: leave them out'],
];

/** What a spreadsheet did to a cell, without repeating it; undefined = nothing that shows. */
export function cellDamage(column: string, cell: string): string | undefined {
  if (!NUMBER_LIKE.has(column)) return undefined;
  const signs = column === 'amount' ? [...DAMAGE, ...AMOUNT_DAMAGE] : DAMAGE;
  return signs.find(([sign]) => sign.test(cell))?.[1];
}
