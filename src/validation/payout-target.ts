import * as z from 'zod';
import type { FieldError } from '../contract/failures.js';
import { decimal, sum } from '../contract/money.js';
import { canonicalWallet, MAX_CARDS, MULTIPLE_CARDS } from '../contract/wallets.js';
import { amountProblem } from './amounts.js';
import { fieldErrors, ofFormat, type Remark } from './field-errors.js';
import type { Unchecked } from './field-texts.js';
import { cardPartSchema, detailsSchemas, NETWORK_FORMAT } from './request-schemas.js';
import { hasKnownDetails, memoProblem, walletFormatProblem, walletProblem } from './wallet-formats.js';

const shapeOf = (network: string): z.ZodObject | undefined =>
  Object.hasOwn(detailsSchemas, network) ? detailsSchemas[network as keyof typeof detailsSchemas] : undefined;

const misfit = (network: string, needs: string): string =>
  `wallet_details does not fit network ${network}: needs ${needs}`;

const isCardParts = (value: unknown): value is { amount?: unknown; wallet?: unknown }[] =>
  Array.isArray(value) && value.every((part) => typeof part === 'object' && part !== null);

/** Returns cards of the wrong format, and repeated ones, which are usually copied rows. */
function badCards(path: string, parts: readonly { wallet?: unknown }[]): FieldError[] {
  const first = new Map<string, number>();
  return parts.flatMap(({ wallet }, index) => {
    if (typeof wallet !== 'string') return [];
    const card = canonicalWallet('card', wallet);
    const earlier = first.get(card);
    if (earlier === undefined) first.set(card, index);
    const repeated = earlier !== undefined && `the same card as in wallet_details[${earlier}]`;
    const reason = walletFormatProblem('card', wallet) ?? repeated;
    return reason ? [{ field: `${path}[${index}].wallet`, reason }] : [];
  });
}

function cardErrors(field: string, details: unknown): Remark[] {
  if (!Array.isArray(details)) return [{ field, reason: misfit(MULTIPLE_CARDS, 'a list of {amount, wallet}') }];
  if (details.length === 0 || details.length > MAX_CARDS) return [{ field, reason: `needs 1 to ${MAX_CARDS} cards` }];
  const { error } = z.array(cardPartSchema).safeParse(details);
  const parts = isCardParts(details) ? details : [];
  return [...(error ? fieldErrors(error, field) : []), ...ofFormat(badCards(field, parts))];
}

function detailsErrors(field: string, network: string, details: unknown): Remark[] {
  if (network === MULTIPLE_CARDS) return cardErrors(field, details);
  if (details === undefined || details === null) return [];
  const schema = shapeOf(network);
  const needs = schema ? Object.keys(schema.shape).join(', ') : 'none';
  // Only multiple cards use a list.
  if (typeof details !== 'object' || Array.isArray(details)) return [{ field, reason: misfit(network, needs) }];
  if (schema) return ofFormat(objectErrors(field, network, schema, details));
  return hasKnownDetails(network)
    ? ofFormat([{ field, reason: misfit(network, needs) }])
    : [{ field, reason: 'passed on as they are: this network is not known here', rule: 'note' }];
}

function objectErrors(field: string, network: string, schema: z.ZodObject, details: object): FieldError[] {
  const { error } = schema.safeParse(details);
  if (!error) return [];
  // Details for another network get one error for all, instead of one per key.
  const needed = Object.keys(schema.shape);
  const fits = Object.keys(details).sort().join() === [...needed].sort().join();
  const errors = fieldErrors(error, field).filter((found) => found.field !== field);
  return fits ? errors : [{ field, reason: misfit(network, needed.join(', ')) }, ...errors];
}

/** Returns errors of a payout's wallet, memo and details. `parent`: their path. */
export function targetErrors(parent: 'order' | 'revertTo', target: Unchecked): Remark[] {
  // An invalid network has its own error, and has no rules.
  const network =
    typeof target.network === 'string' && NETWORK_FORMAT.test(target.network) ? target.network : undefined;
  const wallet = typeof target.wallet === 'string' ? target.wallet : undefined;
  const problem = wallet === undefined ? undefined : walletProblem(network, wallet);
  const format = wallet === undefined ? undefined : walletFormatProblem(network, wallet);
  const memo = typeof target.wallet_memo === 'string' ? memoProblem(network, target.wallet_memo) : undefined;
  return [
    ...(problem ? [{ field: `${parent}.wallet`, reason: problem }] : []),
    ...(format ? ofFormat([{ field: `${parent}.wallet`, reason: format }]) : []),
    ...(memo ? ofFormat([{ field: `${parent}.wallet_memo`, reason: memo }]) : []),
    ...(network ? detailsErrors(`${parent}.wallet_details`, network, target.wallet_details) : []),
  ];
}

/** Compares the sum of the cards' parts exactly. Returns nothing if a figure is invalid. */
export function partsSumErrors(
  network: unknown,
  details: unknown,
  total: { name: string; value: unknown },
): FieldError[] {
  if (network !== MULTIPLE_CARDS || !isCardParts(details) || details.length === 0 || details.length > MAX_CARDS)
    return [];
  const amounts = details.map(({ amount }) => amount);
  if ([...amounts, total.value].some((amount) => amountProblem(amount) !== undefined)) return [];
  if (sum(amounts.map((amount) => decimal(String(amount)))).eq(decimal(String(total.value)))) return [];
  return [{ field: 'order.wallet_details', reason: `the amounts do not add up to ${total.name}` }];
}
