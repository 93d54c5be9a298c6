import { maskName, maskWallet } from '../../contract/masking.js';
import { toAmount } from '../../contract/money.js';
import { METADATA_KEY_FORMAT, METADATA_VALUE_FORMAT, REFERENCE_FORMAT } from '../../contract/names.js';
import type { RunOptions } from '../../contract/order/input-and-result.js';
import type { CallerMarks, OrderState } from '../../contract/order/messages.js';
import type { RequestFields } from '../../contract/order/request.js';
import { factsOf, orderSides, whatMoves } from '../../contract/order/types.js';
import { holdsPrivate } from '../../contract/wallets.js';
import { isKeyword, isShownAmount } from '../keywords.js';
import type { OrderRun } from './state.js';

export type Shown = Marked & Pick<OrderRun, 'type' | 'request' | 'parked'>;
export type Payment = NonNullable<OrderState['payment']>;

/**
 * Returns what a person has to know of a payment to decide on it: no whole wallet and no payee's
 * name. The request may be unchecked.
 */
export function paymentOf(run: Shown): Payment {
  const { type, request, input, parked } = run;
  const { batchId }: RunOptions = Object(input);
  const { reference, metadata: { startedBy } = {} } = marksOf(run);
  const moved = typeof request === 'object' && request !== null ? whatMoves(type, request) : undefined;
  const left = parked.offers.map(({ amount, currency }) => `${toAmount(amount)} ${currency}`);
  const fields: { [Name in keyof Payment]: Payment[Name] | undefined } = {
    moves: isShownAmount(moved) ? moved : undefined,
    payee: payeeOf(run),
    left: left.length > 0 ? [...new Set(left)].join(' or ') : undefined,
    description: descriptionOf(Object(request)),
    reference,
    batchId: isKeyword(batchId) ? batchId : undefined,
    startedBy: startedBy && maskName(startedBy),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value));
}

const SHOWN_WALLETS = 3;

/** Returns the masked wallets of a payout with their network, such as `****1111 (card)`. */
function payeeOf({ type, request }: Shown): string | undefined {
  const { wallet, wallet_details: details }: RequestFields = Object(request);
  if (!factsOf(type).paysOut) return undefined;
  const { networkTo } = orderSides(type, Object(request));
  const wallets = (Array.isArray(details) ? details.map((part) => part?.wallet) : [wallet]).filter(Boolean);
  const others = wallets.length - SHOWN_WALLETS;
  return [
    wallets.slice(0, SHOWN_WALLETS).map((one) => maskWallet(String(one))),
    others > 0 ? `and ${others} more` : [],
    wallets.length === 0 && networkTo ? 'a payee that only the service names' : [],
    isKeyword(networkTo) ? `(${networkTo})` : [],
  ]
    .map((part) => [part].flat().join(', '))
    .filter(Boolean)
    .join(' ');
}

/** Masks also the name of the payee, which descriptions of bank payouts often repeat. */
function descriptionOf({ description, wallet_details: details }: RequestFields): string | undefined {
  if (typeof description !== 'string') return undefined;
  const { recipient_name: name }: { recipient_name?: unknown } = Object(details);
  const words = typeof name === 'string' ? name.toLowerCase().match(/[\p{L}\p{M}]{3,}/gu) : undefined;
  const isOfName = (word: string) => words?.includes(word.toLowerCase());
  return maskName(description.replace(/[\p{L}\p{M}]+/gu, (word) => (isOfName(word) ? '****' : word)));
}

/** Part of a run that has the caller's marks. */
type Marked = Pick<OrderRun, 'input' | 'failure' | 'answeredIn'>;

/** Returns the caller's reference and metadata. Leaves out what is private or was refused. */
export function marksOf({ input, failure, answeredIn }: Marked): CallerMarks {
  const { reference, metadata }: RunOptions = Object(input);
  const isRefused = (name: string): boolean =>
    failure?.details?.flat().some((error) => `${Object(error).field}`.split('.')[0] === name) === true;
  // An unchecked one may be the wallet of its order.
  const isShown = isKeyword(reference, answeredIn ? REFERENCE_FORMAT : undefined) && REFERENCE_FORMAT.test(reference);
  return {
    ...(isShown && !isRefused('reference') && { reference }),
    ...(isMetadata(metadata) && !isRefused('metadata') && { metadata }),
  };
}

const isHarmless = (text: unknown, format: RegExp): boolean =>
  typeof text === 'string' && format.test(text) && !holdsPrivate(text);

const isMetadata = (given: unknown): given is Record<string, string> =>
  typeof given === 'object' &&
  given !== null &&
  Object.entries(given).every(
    ([key, value]) => isHarmless(key, METADATA_KEY_FORMAT) && isHarmless(value, METADATA_VALUE_FORMAT),
  );
