import type { OrderAttention } from '../contract/attention.js';
import { type FieldError, ORDER_FAILURES, ORDER_UNRESOLVED, type OrderFailure } from '../contract/failures.js';
import type { Remainder } from '../contract/order/input-and-result.js';
import type { Attention } from '../contract/order/messages.js';
import { FINAL_STATUSES, type FinalStatus, type Order } from '../contract/service-objects.js';

/** Decisions about an order that was not created. */
export const QUESTIONS = {
  'uncertain-create': ['resend', 'close-absent', 'adopt'],
  'not-sent': ['resend', 'close-absent'],
  'over-cap': ['approve', 'refuse'],
  conflict: ['adopt', 'close-absent'],
} as const satisfies Partial<Record<OrderAttention, Attention['allowed']>>;

/** Questions about a create that was sent. */
export const isDoubt = (code: string | undefined): boolean => code === 'uncertain-create' || code === 'conflict';

/** How an order of the double ends. */
export type TestEnding =
  /**
   * It exists and is final; `order` replaces fields of it. Its policy handles the remainder: the
   * order may wait for a decision, and every follow-up completes.
   */
  | { outcome: Exclude<FinalStatus, 'completed_partially'>; remainder?: Remainder[]; order?: Partial<Order> }
  | { outcome: 'completed_partially'; remainder: Remainder[]; order?: Partial<Order> }
  /** No order exists. */
  | { failure: OrderFailure | typeof ORDER_UNRESOLVED; reason?: string; fields?: FieldError[] }
  /**
   * It waits for a decision. `next`: how it ends after one that sends or adopts it; `order`: fields
   * of the order that the service shows, which `adopt` may name. A conflict always shows one.
   */
  | { parked: keyof typeof QUESTIONS; reason?: string; next?: TestEnding; order?: Partial<Order> }
  /** It exists and is not final. */
  | 'open';

const KINDS = { unpaid: true, unexchanged: true } satisfies Record<Remainder['kind'], true>;

/** Each kind of ending: its choices, and the fields beside it. */
const ENDINGS: Record<string, { choices: readonly string[]; beside: readonly string[] }> = {
  outcome: { choices: FINAL_STATUSES, beside: ['remainder', 'order'] },
  failure: { choices: [...ORDER_FAILURES, ORDER_UNRESOLVED], beside: ['reason', 'fields'] },
  parked: { choices: Object.keys(QUESTIONS), beside: ['reason', 'next', 'order'] },
};

/** Throws TypeError if a value is none of the choices, and names them. */
export function requireOneOf(what: string, value: unknown, choices: readonly unknown[]): void {
  if (choices.includes(value)) return;
  throw new TypeError(`${what} must be one of ${choices.join(', ')}, and is ${JSON.stringify(value)}`);
}

/** Throws TypeError for an ending that the double does not know. */
export function checkEnding(ending: unknown, what = 'the ending'): void {
  if (ending === 'open') return;
  const given: Record<string, unknown> = Object(ending);
  const [kind = '', ...others] = Object.keys(ENDINGS).filter((name) => name in given);
  const known = ENDINGS[kind];
  if (!known || others.length > 0) {
    throw new TypeError(`${what} must be 'open' or have exactly one of ${Object.keys(ENDINGS).join(', ')}`);
  }
  requireOneOf(`${kind} of ${what}`, given[kind], known.choices);
  for (const name of Object.keys(given)) requireOneOf(`a field of ${what}`, name, [kind, ...known.beside]);
  if (given.next !== undefined) checkEnding(given.next, `next of ${what}`);
  const left = given.remainder ?? (given.outcome === 'completed_partially' ? undefined : []);
  if (!Array.isArray(left)) throw new TypeError(`remainder of ${what} must be a list of {kind, currency, amount}`);
  for (const { kind: of } of left) requireOneOf(`the kind of a remainder of ${what}`, of, Object.keys(KINDS));
}
