import type { FieldError } from '../contract/failures.js';
import { holdsWallet } from '../contract/wallets.js';
import { textsOf, type Unchecked } from './field-texts.js';
import type { TextKind } from './text-kinds.js';

const AS_TEXT = 'format the column as text and enter it again';
const NO_VALUE =
  'reads as "no value" of an export (such as nan, NULL, N/A or -): enter the value, or leave it out where none is needed';

const WORDS: readonly TextKind[] = ['id', 'code', 'name'];
const ALL: readonly TextKind[] = [...WORDS, 'figure'];

/** Signs of damage by spreadsheets and exports, each with the kinds of text it applies to. */
const DAMAGE: readonly (readonly [readonly TextKind[], sign: Pick<RegExp, 'test'>, reason: string])[] = [
  [
    ALL,
    /^[-+]?\d+(?:[.,]\d+E[-+]?\d+|E\+\d+)$/i,
    `reads as a number with an exponent: a spreadsheet rounded it and lost its digits: ${AS_TEXT}`,
  ],
  [ALL, /^=/, 'is a formula of a spreadsheet, not its value: write the bare value'],
  [
    ['id', 'code', 'figure'],
    /^'/,
    'begins with an apostrophe that a spreadsheet puts before text: write the bare value',
  ],
  [
    ALL,
    /^(?:#[\p{L}\d/_]{1,20}[!?]|#(?:N\/A|NA|N\/D|NV|Н\/Д|#*)|Err:\d{3}|Loading\.\.\.)$/u,
    'is an error value of a spreadsheet, not the value: enter the value',
  ],
  [
    WORDS,
    /^(?:[-+]?nan|null|none|undefined|n\/a|<(?:na|null|none)>|\(null\)|\\n|\[object object\]|[-–—]+)$/i,
    NO_VALUE,
  ],
  // In lower case `NA` and `NaT` are names of people.
  [WORDS, /^(?:TRUE|FALSE|\((?:blank|empty|leer)\)|NA|NaT)$/, NO_VALUE],
  [
    ['name'],
    { test: (cell) => holdsWallet(cell) || /^\S+@\S+\.\S+$/.test(cell) },
    'reads as a card number, IBAN or e-mail address: the columns may be shifted. Enter the name',
  ],
  [
    ['id'],
    /^[-+]?\d+\.0+$/,
    'reads as a whole number to which a spreadsheet added ".0": export the ids again as text. An order that was sent under this id must not be sent again without the ".0"',
  ],
  [
    WORDS,
    /^\d{1,3}(?:(?:[ '’\u00a0\u202f]\d{3})+|(?:,\d{2,3})*,\d{3})(?:[.,]\d+)?$/u,
    `reads as a number with separators between its digits: ${AS_TEXT}`,
  ],
  [
    ['code', 'name'],
    /^[-+]?\d+[.,]\d+$|^\d{1,3}(?:\.\d{3}){2,}$/,
    `reads as a number into which a spreadsheet put a point or comma: ${AS_TEXT}`,
  ],
];

/** Returns the fields of an input that a spreadsheet or an export damaged, without repeating their values. */
export function damageErrors(input: Unchecked): FieldError[] {
  return textsOf(input).flatMap(({ field, value, rule: { text } }) => {
    const cell = value.trim();
    const [, , reason] = DAMAGE.find(([kinds, sign]) => kinds.includes(text) && sign.test(cell)) ?? [];
    return reason ? [{ field, reason }] : [];
  });
}
