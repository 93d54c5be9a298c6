import type { FieldError } from '../contract/failures.js';
import { maskWallet, passesLuhn } from '../contract/masking.js';
import {
  CARD_FIELDS,
  CLIENT_FIELDS,
  DETAILS_FIELDS,
  type FieldRule,
  REQUEST_FIELDS,
} from '../contract/order/request.js';
import { holdsWallet } from '../contract/wallets.js';
import { type TextKind, textProblem } from './text-kinds.js';

export type Unchecked = Record<string, unknown>;

export const fieldsOf = (value: unknown): Unchecked =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Unchecked) : {};

export interface FieldText {
  field: string;
  value: string;
  rule: FieldRule;
}

type Rules = Readonly<Record<string, FieldRule>>;

/** Returns the texts of an object's known fields. `prefix` starts their paths. */
export function textsIn(prefix: string, fields: unknown, rules: Rules): FieldText[] {
  const values = fieldsOf(fields);
  const texts: FieldText[] = [];
  for (const name of Object.keys(values)) {
    const value = values[name];
    const rule = typeof value === 'string' && Object.hasOwn(rules, name) && rules[name];
    if (rule) texts.push({ field: prefix + name, value, rule });
  }
  return texts;
}

/** Returns every text of an order's input in known fields, at any depth. */
export function textsOf({ order: given, revertTo: target, reference }: Unchecked): FieldText[] {
  const [order, revertTo] = [fieldsOf(given), fieldsOf(target)];
  const { wallet, wallet_details: details, client_info: client } = order;
  const cards = Array.isArray(details) ? details : [];
  // Beside a list of cards, `wallet` is a filler such as "-".
  const isFiller = cards.length > 0 && !/\d{6}/.test(typeof wallet === 'string' ? wallet : '');
  return textsIn('order.', isFiller ? { ...order, wallet: undefined } : order, REQUEST_FIELDS).concat(
    ...cards.map((card, index) => textsIn(`order.wallet_details[${index}].`, card, CARD_FIELDS)),
    textsIn('order.client_info.', client, CLIENT_FIELDS),
    textsIn('order.wallet_details.', details, DETAILS_FIELDS),
    textsIn('revertTo.', revertTo, REQUEST_FIELDS),
    textsIn('revertTo.wallet_details.', revertTo.wallet_details, DETAILS_FIELDS),
    textsIn('', { reference }, { reference: { privacy: 'public', text: 'id' } }),
  );
}

const errorsBy = (problemOf: (text: FieldText) => string | undefined) => (texts: readonly FieldText[]) =>
  texts.flatMap((text): FieldError[] => {
    const { field, value, rule } = text;
    const problem = problemOf(text);
    if (!problem) return [];
    return [{ field, reason: rule.privacy === 'wallet' ? `${maskWallet(value)}: ${problem}` : problem }];
  });

export const textErrors = errorsBy(({ rule, value }) => textProblem(rule.text, value));

/** Number as a spreadsheet writes it that keeps 15 digits, and zeros for the others. */
export const CUT_NUMBER = /^0*[1-9]\d{14}0+$/;

const CUT =
  'has only zeros behind its first 15 digits, which are all that a spreadsheet keeps of a number: compare it with what the payee gave';

/** Returns numbers that a spreadsheet may have cut. A check digit guards the last of 16. */
export const cutNumbers = errorsBy(({ value, rule: { text, privacy } }) => {
  const isGuarded = privacy === 'wallet' && value.length === 16 && passesLuhn(value);
  return text === 'code' && CUT_NUMBER.test(value) && !isGuarded ? CUT : undefined;
});

const NUMBER =
  'reads as a number that a spreadsheet changed (exponent, separators, or it put a point or comma): format the column as text and enter it again';
const CELL = 'is a formula, an error value or an apostrophe of a spreadsheet: write the bare value';
const NO_VALUE =
  'reads as "no value" of an export (such as nan, NULL, N/A or -): enter the value, or leave it out where none is needed';

const WORDS: readonly TextKind[] = ['id', 'code', 'name'];
const ALL: readonly TextKind[] = [...WORDS, 'figure'];

/** Signs of damage by spreadsheets, with the kinds of text that they apply to. */
const DAMAGE: readonly (readonly [readonly TextKind[], sign: Pick<RegExp, 'test'>, reason: string])[] = [
  [ALL, /^[-+]?\d+(?:[.,]\d+E[-+]?\d+|E\+\d+)$/i, NUMBER],
  [ALL, /^=|^(?:#[\p{L}\d/_]{1,20}[!?]|#(?:N\/A|NA|N\/D|NV|Н\/Д|#*)|Err:\d{3}|Loading\.\.\.)$/u, CELL],
  [['id', 'code', 'figure'], /^'/, CELL],
  // In lower case, `NA` and `NaT` are names of people.
  [WORDS, /^(?:TRUE|FALSE|\((?:blank|empty|leer)\)|NA|NaT)$/, NO_VALUE],
  [
    WORDS,
    /^(?:[-+]?nan|null|none|undefined|n\/a|<(?:na|null|none)>|\(null\)|\\n|\[object object\]|[-–—]+)$/i,
    NO_VALUE,
  ],
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
  [WORDS, /^\d{1,3}(?:(?:[ '’\u00a0\u202f]\d{3})+|(?:,\d{2,3})*,\d{3})(?:[.,]\d+)?$/u, NUMBER],
  [['code', 'name'], /^[-+]?\d+[.,]\d+$|^\d{1,3}(?:\.\d{3}){2,}$/, NUMBER],
];

/** Returns the fields that a spreadsheet damaged, without their values. */
export function damageErrors(input: Unchecked): FieldError[] {
  return textsOf(input).flatMap(({ field, value, rule: { text } }) => {
    const cell = value.trim();
    const [, , reason] = DAMAGE.find(([kinds, sign]) => kinds.includes(text) && sign.test(cell)) ?? [];
    return reason ? [{ field, reason }] : [];
  });
}
