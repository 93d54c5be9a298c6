import type { FieldError } from '../contract/failures.js';
import { ORDER_ID_FORMAT, parseFollowUpOrderId } from '../contract/names.js';
import type { CompensationPolicy } from '../contract/order/input-and-result.js';
import type { Privacy } from '../contract/order/request.js';
import { factsOf, type OrderType } from '../contract/order/types.js';
import { holdsWallet, MULTIPLE_CARDS, NO_WALLET } from '../contract/wallets.js';
import { ofFormat, type Remark } from './field-errors.js';
import { cutNumbers, type FieldText, fieldsOf, textErrors, textsOf, type Unchecked } from './field-texts.js';
import { partsSumErrors, targetErrors } from './payout-target.js';
import { MAX_DESCRIPTION_LENGTH } from './request-schemas.js';
import { textProblem } from './text-kinds.js';

/*
 * Rules across fields. They run on unchecked input alongside the schemas, and ignore fields
 * with a wrong format.
 */

/** Fields that an order sets for its follow-ups. */
const FOLLOW_UP_FIELDS = ['followUpOf', 'sentTo', 'strictest', 'decidedBy'];
const PROGRAM_NAME = 'this name has a meaning of its own in programs';
/** Minimum length of a searched wallet: shorter ones occur by chance in ids and texts. */
const MIN_TELLING_LENGTH = 8;

function orderIdProblem(orderId: string, followUp: boolean): string | undefined {
  if (orderId.trim() === '') return 'required';
  if (followUp) {
    return parseFollowUpOrderId(orderId) ? undefined : 'must be the id of the order it follows up and .r<number>';
  }
  if (!ORDER_ID_FORMAT.test(orderId)) {
    return ['must be 1 to 120 of A-Z a-z 0-9 . _ : -', textProblem('id', orderId) ?? []].flat().join('; ');
  }
  if (/\.r\d+$/.test(orderId)) return 'endings like .r1 belong to follow-ups';
  // Other programs use ids in paths and as object keys.
  if (/^\.+$/.test(orderId) || orderId in {}) return PROGRAM_NAME;
  return undefined;
}

function amountErrors(type: OrderType, order: Unchecked): FieldError[] {
  const { exchanges, paysOut } = factsOf(type);
  if (!exchanges || !paysOut) return [];
  if ((order.amount === undefined) !== (order.amount_to === undefined)) return [];
  return [{ field: 'order.amount', reason: 'exactly one of amount, amount_to' }];
}

function payoutErrors(type: OrderType, order: Unchecked): Remark[] {
  const { exchanges, paysOut, sides } = factsOf(type);
  if (!paysOut) return [];
  const network = sides.networkTo && order[sides.networkTo];
  // With `amount`, the exchange types state it in another currency than the parts.
  const total = exchanges ? 'amount_to' : 'amount';
  return [
    ...targetErrors('order', { ...order, network }),
    ...partsSumErrors(network, order.wallet_details, { name: total, value: order[total] }),
  ];
}

function revertErrors(revertTo: unknown): Remark[] {
  const target = fieldsOf(revertTo);
  if (target.network === MULTIPLE_CARDS) {
    return [{ field: 'revertTo.network', reason: 'a refund goes to one wallet' }];
  }
  return targetErrors('revertTo', target);
}

/** Finds policies without a row of the compensation table. */
function policyErrors(type: OrderType, input: Unchecked): FieldError[] {
  const policy = input.compensation as CompensationPolicy | undefined;
  const { startsWithDeposit, exchanges, paysOut } = factsOf(type);
  const onlyDeposits = startsWithDeposit && !exchanges && !paysOut;
  if (onlyDeposits && (policy === 'finish' || policy === 'revert')) {
    return [{ field: 'compensation', reason: 'a deposit leaves nothing to finish or revert: report or ask' }];
  }
  if (startsWithDeposit && policy === 'revert' && input.revertTo === undefined) {
    return [{ field: 'revertTo', reason: 'required: a deposit is refunded only to a wallet named here' }];
  }
  return [];
}

/** Finds orders whose amount from the balance is not known before the create. */
function fundsErrors(type: OrderType, order: Unchecked, whenShort: unknown): FieldError[] {
  if (whenShort === undefined) return [];
  if (!factsOf(type).movesMoneyAtOnce)
    return [{ field: 'whenShort', reason: 'only for orders that pay from the balance' }];
  return order.amount === undefined
    ? [{ field: 'whenShort', reason: 'needs order.amount, since amount_to is no amount of the balance' }]
    : [];
}

const squeeze = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]/g, '');

/** Finds wallets in ids, search attributes and descriptions, which are not protected. */
function leakErrors(input: Unchecked, known: readonly FieldText[]): FieldError[] {
  const order = fieldsOf(input.order);
  const valuesOf = (wanted: Privacy) => known.flatMap(({ rule, value }) => (rule.privacy === wanted ? [value] : []));
  const telling = valuesOf('wallet')
    .map(squeeze)
    .filter((wallet) => wallet.length >= MIN_TELLING_LENGTH);
  const emails = valuesOf('email').filter((email) => email.includes('@'));
  const { batchId, reference } = input;
  const metadata = Object.entries(fieldsOf(input.metadata)).map(([key, value]) => [
    `metadata.${key}`,
    `${key} ${value}`,
  ]);
  const texts = { 'order.order_id': order.order_id, 'order.description': order.description, batchId, reference };
  return [...Object.entries(texts), ...metadata].flatMap(([field, text]) => {
    if (typeof text !== 'string' || text.length > MAX_DESCRIPTION_LENGTH) return [];
    const [squeezed, lowercase] = [squeeze(text), text.toLowerCase()];
    const leaks =
      telling.some((wallet) => squeezed.includes(wallet)) ||
      emails.some((email) => lowercase.includes(email.toLowerCase()));
    return leaks ? [{ field, reason: "contains the order's own wallet or e-mail" }] : [];
  });
}

/** Returns why an order may not use its id or its batch's id, which everybody sees. */
export function shownIdErrors(input: unknown): FieldError[] {
  const { order, batchId } = fieldsOf(input);
  const { order_id: orderId } = fieldsOf(order);
  const holds = (name: unknown) => typeof name === 'string' && holdsWallet(name);
  const reason = `${NO_WALLET}; what was ever started with this id must not be paid under another one`;
  return [
    ...(holds(orderId) ? [{ field: 'order.order_id', reason }] : []),
    ...(holds(batchId) ? [{ field: 'batchId', reason: NO_WALLET }] : []),
  ];
}

/** Returns all errors that concern several fields. */
export function ruleErrors(type: OrderType, input: unknown, followUp: boolean): Remark[] {
  const fields = fieldsOf(input);
  const order = fieldsOf(fields.order);
  const texts = textsOf(fields);
  const idProblem = typeof order.order_id === 'string' ? orderIdProblem(order.order_id, followUp) : undefined;
  const { exchanges, sides } = factsOf(type);
  const staysOnBalance = exchanges && sides.networkFrom === null && sides.networkTo === null;
  const selfExchange = staysOnBalance && order.currency_to !== undefined && order.currency_from === order.currency_to;
  const isAgain = fields.sentUntil !== undefined;
  // The schema would drop `__proto__`.
  const reserved = Object.keys(fieldsOf(fields.metadata)).filter((name) => name in {});
  const handedOn = FOLLOW_UP_FIELDS.filter((field) => fields[field] !== undefined && !(isAgain && field === 'sentTo'));
  return [
    // First, so that the order's own wallet in its id is not explained as a coincidence.
    ...leakErrors(fields, texts),
    ...(idProblem ? [{ field: 'order.order_id', reason: idProblem }] : []),
    ...(followUp ? [] : handedOn.map((field) => ({ field, reason: 'belongs to follow-ups' }))),
    ...reserved.map((name) => ({ field: `metadata.${name}`, reason: PROGRAM_NAME })),
    ...amountErrors(type, order),
    ...(selfExchange ? [{ field: 'order.currency_to', reason: 'must differ from currency_from' }] : []),
    ...payoutErrors(type, order),
    ...revertErrors(fields.revertTo),
    ...policyErrors(type, fields),
    ...fundsErrors(type, order, fields.whenShort),
    ...ofFormat(textErrors(texts)),
    ...cutNumbers(texts).map((found): Remark => ({ ...found, rule: 'note' })),
  ];
}
