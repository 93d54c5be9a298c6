import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { InvalidInputError } from '../client/errors.js';
import type { ApiKey, Verb } from '../config.js';
import { decimal } from '../contract/money.js';
import { DEFAULT_ACCOUNT } from '../contract/names.js';
import type { OrderInput } from '../contract/order/input-and-result.js';
import { amountsOf, factsOf, type OrderType } from '../contract/order/types.js';
import { Refusal } from './problems.js';

/** Caller of a request. Without a key, which needs an API without keys, it may do everything. */
export interface Caller {
  key?: ApiKey;
}

/** Amount that a request may move. */
interface Moved {
  amount?: string | undefined;
  currency?: string | undefined;
}

const NO_KEY: Refusal['problem'] = {
  status: 401,
  code: 'unauthenticated',
  detail: 'The request has no valid key, so nothing was done. Send it again with "Authorization: Bearer <key>"',
  headers: { 'www-authenticate': 'Bearer' },
};

const BEARER = /^Bearer +([\x21-\x7e]{1,512})$/i;

/** Returns who sent a request. Throws Refusal. */
export function authenticate({ headers }: FastifyRequest, keys: readonly ApiKey[] | undefined): Caller {
  if (!keys) return {};
  const [, token] = BEARER.exec(headers.authorization ?? '') ?? [];
  if (token === undefined) throw new Refusal(NO_KEY);
  const digest = createHash('sha256').update(token).digest();
  // Compares all keys, so that the duration reveals nothing.
  const [key] = keys.filter((one) => timingSafeEqual(one.digest, digest));
  if (!key) throw new Refusal(NO_KEY);
  return { key };
}

const forbidden = (detail: string): Refusal =>
  new Refusal({ status: 403, code: 'forbidden', detail: `${detail}. Nothing was done. Use a key that allows it` });

/** Throws Refusal unless a key has one of the verbs. */
export function requireVerb({ key }: Caller, verbs: readonly Verb[]): void {
  if (key && !verbs.some((verb) => key.verbs.has(verb))) {
    throw forbidden(`Key "${key.name}" does not have the verb ${verbs.join(' or ')}`);
  }
}

/** Returns the account that a request names. Throws Refusal if it is not one of the key's. */
export function allowedAccount({ key }: Caller, account: string = DEFAULT_ACCOUNT): string {
  if (key?.accounts && !key.accounts.has(account)) throw forbidden(`Key "${key.name}" is not for this account`);
  return account;
}

/** Returns why a request moves more than its key allows; undefined if it does not. */
function beyondAmounts({ key }: Caller, moved: readonly Moved[]): string | undefined {
  if (!key?.maxAmount) return undefined;
  for (const { amount, currency } of moved) {
    if (amount === undefined || currency === undefined) {
      return `Key "${key.name}" has a maxAmount, and it is not known how much this moves`;
    }
    const most = key.maxAmount.get(currency);
    if (most === undefined) return `Key "${key.name}" has no maxAmount for this currency`;
    if (decimal(amount).gt(decimal(most))) return `Key "${key.name}" may move at most ${most} ${currency} at once`;
  }
  return undefined;
}

/** Throws Refusal above the key's limits, and for currencies without a limit. */
export function requireAmounts(caller: Caller, moved: readonly Moved[]): void {
  const beyond = beyondAmounts(caller, moved);
  if (beyond !== undefined) throw forbidden(beyond);
}

/**
 * Returns why a key may not start an order, nor let it continue; undefined if it may. Nobody bounds
 * what a client pays in, nor what a policy then moves of it.
 */
export function beyondOrder(caller: Caller, type: OrderType, input: OrderInput): string | undefined {
  const { compensation: policy } = input;
  if (caller.key?.maxAmount && factsOf(type).startsWithDeposit && (policy === 'finish' || policy === 'revert')) {
    return `Key "${caller.key.name}" has a maxAmount, and compensation ${policy} moves more if the client pays in more; compensation ask is possible`;
  }
  return beyondAmounts(caller, amountsOf(type, input.order));
}

/** Throws Refusal for an order that a key may not start. */
export function requireOrder(caller: Caller, type: OrderType, input: OrderInput): void {
  const beyond = beyondOrder(caller, type, input);
  if (beyond !== undefined) throw forbidden(beyond);
}

/** Returns the caller's name. Throws InvalidInputError if the body claims another one. */
export function actorOf({ key }: Caller, field: 'by' | 'startedBy' | 'metadata.startedBy', claimed: unknown): string {
  if (key && claimed !== undefined && claimed !== null && claimed !== key.name) {
    throw new InvalidInputError([{ field, reason: 'is the name of the key: leave it out' }]);
  }
  if (key) return key.name;
  if (typeof claimed === 'string' && claimed.trim() !== '') return claimed;
  throw new InvalidInputError([{ field, reason: 'required, because this API has no keys that name its callers' }]);
}
