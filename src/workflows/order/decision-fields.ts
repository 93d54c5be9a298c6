import { AMOUNT_FORMAT, decimal, MAX_AMOUNT_LENGTH, toAmount } from '../../contract/money.js';
import type { Decision } from '../../contract/order/messages.js';
import type { CardPart } from '../../contract/order/request.js';
import { MAX_CARDS, MULTIPLE_CARDS } from '../../contract/wallets.js';
import { chooseOffer, type Offer, totalOf } from '../compensation/offers.js';

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value.trim() !== '' && value.length <= 255;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const unknownKeys = (value: object, known: readonly string[]): string[] =>
  Object.keys(value).filter((key) => !known.includes(key));

/**
 * What is wrong with the way a decision names to `finish` or `revert`; undefined = it means exactly one offer. Looks at
 * shapes only, without zod: wallets are checked in full before the follow-up is sent. Never shows a value.
 */
export function wayProblem(offers: readonly Offer[], decision: Partial<Decision>): string | undefined {
  const offer = chooseOffer(offers, decision);
  if (typeof offer === 'string') return offer;
  const { revertTo, wallet_details: cards } = decision;
  const { field, required } = offer.names ?? {};
  if (revertTo !== undefined && field !== 'revertTo') return 'revertTo: this way refunds nothing';
  if (cards !== undefined && field !== 'wallet_details') return 'wallet_details: this way pays to no several cards';
  if (revertTo === undefined && cards === undefined) return required ? missing(offer) : undefined;
  return field === 'revertTo' ? targetProblem(revertTo) : cardsProblem(cards, offer);
}

function missing({ names, amount, currency }: Offer): string {
  if (names?.field === 'revertTo') return 'revertTo: where does the refund go? {network, wallet, …}';
  return `wallet_details: which cards are to be paid? [{amount, wallet}, …], at most ${toAmount(amount)} ${currency}`;
}

function targetProblem(revertTo: unknown): string | undefined {
  if (!isObject(revertTo)) return 'revertTo must be {network, wallet, wallet_memo?, wallet_details?}';
  const unknown = unknownKeys(revertTo, ['network', 'wallet', 'wallet_memo', 'wallet_details']);
  // Keys come from whoever sent them: only their number is shown.
  if (unknown.length > 0) return `revertTo: ${unknown.length} unknown fields`;
  const { network, wallet, wallet_memo: memo, wallet_details: details } = revertTo;
  if (!isText(network)) return 'revertTo.network: a text of 1 to 255 characters';
  if (network === MULTIPLE_CARDS) return 'revertTo.network: a refund goes to one wallet';
  if (!isText(wallet)) return 'revertTo.wallet: a text of 1 to 255 characters';
  if (memo != null && typeof memo !== 'string') return 'revertTo.wallet_memo must be a text';
  return details == null || isObject(details) ? undefined : 'revertTo.wallet_details must be an object';
}

const isAmount = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= MAX_AMOUNT_LENGTH && AMOUNT_FORMAT.test(value) && decimal(value).gt(0);

const isCard = (part: unknown): part is CardPart =>
  isObject(part) &&
  unknownKeys(part, ['amount', 'wallet']).length === 0 &&
  isAmount(part.amount) &&
  isText(part.wallet);

function cardsProblem(cards: unknown, { amount, currency }: Offer): string | undefined {
  if (!Array.isArray(cards) || cards.length === 0 || cards.length > MAX_CARDS) {
    return `wallet_details must be a list of 1 to ${MAX_CARDS} cards`;
  }
  const bad = cards.findIndex((part) => !isCard(part));
  if (bad >= 0) return `wallet_details[${bad}] must be {amount, wallet}, the amount a decimal string above 0`;
  const total = totalOf(cards);
  if (total.lte(amount)) return undefined;
  return `wallet_details: the amounts add up to ${toAmount(total)}, at most ${toAmount(amount)} ${currency} may be paid`;
}
