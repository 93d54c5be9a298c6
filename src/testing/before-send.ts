import { shortfall } from '../activities/order/balances.js';
import { amountsOf, shownAs, unchecked } from '../activities/order/check-findings.js';
import type { OrderAttention } from '../contract/attention.js';
import type { BatchInput } from '../contract/batch/batch.js';
import type { FieldError } from '../contract/failures.js';
import { type OrderInput, type RunInput, whyTooLate } from '../contract/order/input-and-result.js';
import type { OrderFindings } from '../contract/order/messages.js';
import { factsOf, type OrderType } from '../contract/order/types.js';
import type { Balances, Order, Rates } from '../contract/service-objects.js';
import { checkAgainstRates } from '../validation/rate-checks.js';
import { openFacts } from '../workflows/create/facts.js';
import { nextAction } from '../workflows/create/next-action.js';
import type { TestEnding } from './endings.js';

/** Answers of the service. Without balances, funds suffice. */
export interface Terms {
  rates: Rates;
  balances?: Balances | undefined;
}

/** Returns true if an order or a row asks a person or waits for funds that are not there. */
export function waitsForFunds(
  type: OrderType,
  { order, rows = [], whenShort = 'refuse' }: Partial<OrderInput> & BatchInput,
  { rates, balances }: Terms,
): boolean {
  if (whenShort === 'refuse' || balances === undefined) return false;
  const orders = order ? [order] : rows.map(({ reference: _, ...row }) => row);
  return orders.some((one) => shortfall(balances, rates, type, one) !== undefined);
}

/** Returns the bad fields that only a worker sees. */
export function badFields(type: OrderType, { order, whenShort }: OrderInput, { rates, balances }: Terms): FieldError[] {
  const errors = checkAgainstRates(type, order, rates);
  const isRead = errors.length === 0 && whenShort === 'refuse' && balances !== undefined;
  const reason = isRead ? shortfall(balances, rates, type, order) : undefined;
  return reason ? [{ field: 'order.amount', reason }] : errors;
}

export const lateness = ({ latestSend }: OrderInput): string | undefined =>
  latestSend && whyTooLate(latestSend, Date.now());

/** Returns the end of an order that is too late. */
export const notSent = ({ order }: OrderInput, why: string | undefined): TestEnding => ({
  failure: 'OrderCancelled',
  reason: `order ${order.order_id} was not sent: ${why}`,
});

/**
 * Returns how an order ends or parks before a worker sends it; undefined if it is sent. `isKnown`: an
 * earlier run of its id is known, so the service's answers show what that run sent.
 */
export function beforeSend(type: OrderType, input: RunInput, terms: Terms, isKnown: boolean): TestEnding | undefined {
  const { movesMoneyAtOnce } = factsOf(type);
  const why = lateness(input);
  const facts = openFacts(input.resend, movesMoneyAtOnce);
  if (why) Object.assign(facts, { late: 'over', blocked: { by: 'stale', why } });
  if (input.sentUntil) {
    const said = 'an earlier run of this order id may have sent it';
    const place = input.accountUnknown ? 'unknown' : 'asked';
    const doubt = { cause: 'earlierRun', untilMs: Date.parse(input.sentUntil), place, said } as const;
    const control = { whole: true, ...(isKnown && { later: true as const }) };
    Object.assign(facts, { everDoubted: [doubt], absence: { doubt, readIn: '', control } });
  }
  const action = nextAction(facts, { movesMoneyAtOnce });
  if (action.do === 'end') return notSent(input, why);
  if (action.do === 'ask') return { parked: 'uncertain-create', reason: 'an earlier run may have sent it' };
  const fields = badFields(type, input, terms);
  return fields.length > 0 ? { failure: 'InvalidOrder', fields } : undefined;
}

/** Fields of an ending without an order. */
type Refusal = { fields?: FieldError[]; parked?: OrderAttention; reason?: string };

/** Order to check, and what the test set. */
interface TestCheck {
  type: OrderType;
  input: OrderInput;
  /** The service's order with this id. */
  order: Order | undefined;
  ending: TestEnding;
  terms: Terms;
}

/** Returns what a worker finds about an order: it refuses and parks what the test's ending does. */
export function findingsOf({ type, input, order, ending, terms }: TestCheck): OrderFindings {
  const { order: request, whenShort } = input;
  const [bad, late] = [badFields(type, input, terms), lateness(input)];
  const atService = shownAs({ type, request }, order);
  const amounts = amountsOf({ type, request, terms: { balances: undefined, ...terms } });
  const warnings = whenShort ? [] : (amounts.leaves ?? []).flatMap(unchecked);
  const { fields = [], parked, reason }: Refusal = Object(ending);
  const code = atService.state === 'conflict' ? 'conflict' : order ? undefined : parked;
  const asks = (code === 'conflict' || code === 'over-cap') && code;
  return {
    fields: bad.length > 0 ? bad : fields,
    ...amounts,
    ...(asks && { wouldPark: { code: asks, reason: atService.reason ?? reason ?? 'the test says so' } }),
    ...(late && { notNow: late }),
    ...(warnings.length > 0 && { warnings }),
    atService,
  };
}
