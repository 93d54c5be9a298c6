import type { FieldError } from '../contract/failures.js';
import { maskWallet } from '../contract/masking.js';
import {
  CARD_FIELDS,
  CLIENT_FIELDS,
  DETAILS_FIELDS,
  type FieldRule,
  REQUEST_FIELDS,
} from '../contract/order/request.js';
import { textProblem } from './text-kinds.js';

/** Fields before anything is known about their shapes. */
export type Unchecked = Record<string, unknown>;

/** Own fields of an object; none for everything else. */
export const fieldsOf = (value: unknown): Unchecked =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Unchecked) : {};

/** One text of an input: its path, its value and the rule of its field. */
export interface FieldText {
  field: string;
  value: string;
  rule: FieldRule;
}

/** Rules by the name of a field. */
type Rules = Readonly<Record<string, FieldRule>>;

/** Returns the texts of an object's own known fields; `prefix` begins their paths. */
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

/** Returns every text of an order's input that a table of fields names, at any depth. */
export function textsOf({ order: given, revertTo: target }: Unchecked): FieldText[] {
  const [order, revertTo] = [fieldsOf(given), fieldsOf(target)];
  const { wallet, wallet_details: details, client_info: client } = order;
  const cards = Array.isArray(details) ? details : [];
  // Beside a list of cards `wallet` is a filler, such as "-", and names no payee.
  const isFiller = cards.length > 0 && !/\d{6}/.test(typeof wallet === 'string' ? wallet : '');
  return textsIn('order.', isFiller ? { ...order, wallet: undefined } : order, REQUEST_FIELDS).concat(
    ...cards.map((card, index) => textsIn(`order.wallet_details[${index}].`, card, CARD_FIELDS)),
    textsIn('order.client_info.', client, CLIENT_FIELDS),
    textsIn('order.wallet_details.', details, DETAILS_FIELDS),
    textsIn('revertTo.', revertTo, REQUEST_FIELDS),
    textsIn('revertTo.wallet_details.', revertTo.wallet_details, DETAILS_FIELDS),
  );
}

/** Returns the texts that do not fit the kinds of their fields. */
export function textErrors(texts: readonly FieldText[]): FieldError[] {
  return texts.flatMap(({ field, value, rule: { text, privacy } }) => {
    const problem = textProblem(text, value);
    if (!problem) return [];
    return [{ field, reason: privacy === 'wallet' ? `${maskWallet(value)}: ${problem}` : problem }];
  });
}
