import { getClient } from '@temporalio/activity';
import { z } from 'zod';
import { describeFieldErrors } from '../../contract/failures.js';
import { quoted } from '../../contract/names.js';
import type { OrderInput } from '../../contract/order/input-and-result.js';
import type { OrderFindings } from '../../contract/order/messages.js';
import type { CreateRequest } from '../../contract/order/request.js';
import { ORDER_TYPES, type OrderType, orderSides } from '../../contract/order/types.js';
import { type Breach, breachText } from '../../contract/policy/rules.js';
import { validateOrderInput } from '../../validation/order-input.js';
import { amountLikeThousands } from '../../validation/rate-checks.js';
import type { Account, ActivityDeps } from '../deps.js';
import { reasonOf } from '../failures.js';
import { breachesBefore } from '../policy/ask.js';
import { onlyByCommand, protectionsIn, tooSoonAfterRestore } from '../protections.js';
import { stopsOf } from '../stops.js';
import { amountsOf, type Checked, shownAs, unchecked } from './check-findings.js';
import { AttemptDeadline, readSendTimes } from './create-attempt.js';
import { beyondLimits, exceededCap, readTerms } from './limits.js';

/** Query of the read `check`. Its input is checked like that of a start. */
export const checkQuery = z.strictObject({ order_type: z.enum(ORDER_TYPES), input: z.unknown() });

/** Checks an order as its first create would, by reads alone. A failed look-up is `unknown`. */
export async function checkOrder(
  deps: ActivityDeps,
  account: Account,
  { order_type: type, input }: z.infer<typeof checkQuery>,
): Promise<OrderFindings> {
  const checked = validateOrderInput(type, input, { formatChecks: account.formatChecks });
  if ('errors' in checked) return { fields: checked.errors };
  const { order: request, whenShort } = checked.input;
  const first = { type, permission: 'first' } as const;
  const [terms, atService, late, stop, line] = await Promise.all([
    // Its balances are shown, whether or not a start would check them.
    readTerms(deps, account, { ...first, input: { whenShort: 'ask' } }, request),
    shownAtService(account, type, request),
    tooLate(deps, account, type, checked.input),
    stopOf(deps, account),
    lineOf(account, orderSides(type, request), whenShort),
  ]);
  const { errors, notes, short } = beyondLimits(account, type, request, {
    ...terms,
    ...(!whenShort && { balances: undefined }),
  });
  const amounts = amountsOf({ type, request, terms });
  const policy = await policyOf(deps, account, { type, request, terms });
  const thousands = terms.rates && amountLikeThousands(type, request, terms.rates);
  const warnings = [
    ...(checked.notes ?? []).map((note) => describeFieldErrors([note])),
    ...(thousands ? [thousands] : []),
    ...(whenShort ? [] : (amounts.leaves ?? []).flatMap(unchecked)),
    ...(policy.warnings ?? []),
  ];
  const unknown = [...notes, ...[amounts, late, stop, policy, line].flatMap((one) => one?.unknown ?? [])];
  const notNow = late?.reason ?? stop.reason ?? policy.refusal ?? waitOf(whenShort, short, line.older);
  return {
    fields: short && whenShort === 'refuse' ? [...errors, { field: 'order.amount', reason: short }] : errors,
    ...amounts,
    ...questionOf(deps, account, { type, request, terms }, atService, {
      policy,
      short: whenShort === 'ask' ? short : undefined,
    }),
    ...(notNow && { notNow }),
    ...(warnings.length > 0 && { warnings }),
    ...policy.paid,
    ...(unknown.length > 0 && { unknown }),
    atService,
  };
}

const WAITS: readonly unknown[] = ['wait', 'overtake'];

/** Returns why the order would wait. An `overtake` order waits only for its own funds. */
function waitOf(whenShort: unknown, short: string | undefined, older = 0): string | undefined {
  if (!WAITS.includes(whenShort) || (!short && (older === 0 || whenShort === 'overtake'))) return undefined;
  const before = older > 0 && `${older} older orders wait before it`;
  return `it would wait for funds: ${[short, before].filter(Boolean).join('; ')}`;
}

/** Returns how many orders of the account wait for funds of the currency. A new one is the last. */
async function lineOf(
  { name }: Account,
  { currencyFrom }: { currencyFrom: string },
  whenShort: unknown,
): Promise<{ older?: number; unknown?: string[] }> {
  if (!WAITS.includes(whenShort)) return {};
  const terms = `PaymentAccount = ${quoted(name)} AND PaymentCurrencyFrom = ${quoted(currencyFrom)}`;
  const query = `${terms} AND PaymentOrderStatus = 'short' AND ExecutionStatus = 'Running'`;
  try {
    return { older: (await getClient().workflow.count(query)).count };
  } catch (error) {
    return { unknown: [`how many orders wait for funds could not be read (${reasonOf(error)})`] };
  }
}

/** Returns why nothing is sent while the account is stopped. */
async function stopOf(deps: ActivityDeps, account: Account): Promise<{ reason?: string; unknown?: string[] }> {
  try {
    const reason = await stopsOf(deps, account).why();
    return reason === undefined ? {} : { reason };
  } catch (error) {
    return { unknown: [`whether the account is stopped could not be read (${reasonOf(error)})`] };
  }
}

/** Returns why nothing is sent now: after a restore, or after the latest time to send. */
async function tooLate(
  deps: ActivityDeps,
  account: Account,
  type: OrderType,
  input: OrderInput,
): Promise<{ reason?: string; unknown?: string[] } | undefined> {
  try {
    const restored = await tooSoonAfterRestore(deps, account, type);
    if (restored) return restored;
    const attempt = { startedAtMs: Date.now(), input, permission: 'first' } as const;
    const times = await readSendTimes(deps, attempt, input.order, new AttemptDeadline());
    return await times.tooLate();
  } catch (error) {
    return { unknown: [`the server's clock could not be read (${reasonOf(error)}): latestSend was not checked`] };
  }
}

/** Looks for an order with this id. Only an answer without one counts as none. */
async function shownAtService(
  { service }: Account,
  type: OrderType,
  request: CreateRequest,
): Promise<NonNullable<OrderFindings['atService']>> {
  try {
    const { order } = await service.orderStatus({ order_id: request.order_id });
    return shownAs({ type, request }, order);
  } catch (error) {
    return { state: 'unknown', reason: `the service did not show whether it has the order (${reasonOf(error)})` };
  }
}

/** Returns the question that a start would ask a person. */
function questionOf(
  deps: ActivityDeps,
  account: Account,
  { type, request, terms }: Checked,
  { state, reason = '' }: NonNullable<OrderFindings['atService']>,
  { policy, short }: { policy: PolicyFindings; short: string | undefined },
): Pick<OrderFindings, 'wouldPark'> {
  const only = onlyByCommand(deps, account.name);
  const command = only && { onlyByCommand: only };
  if (state === 'conflict') return { wouldPark: { code: 'conflict', reason, ...command } };
  const cap = state !== 'same' && exceededCap(protectionsIn(deps, account).caps, type, request, terms.rates);
  if (cap) return { wouldPark: { code: 'over-cap', reason: cap.reason, ...command } };
  if (state === 'same') return {};
  if (policy.question) return { wouldPark: { code: 'policy', reason: policy.question, ...command } };
  return short ? { wouldPark: { code: 'short-of-funds', reason: short, ...command } } : {};
}

/** Verdict of the policy: its question to a person, refusal or warning, or what is unknown. */
interface PolicyFindings {
  question?: string;
  refusal?: string;
  warnings?: string[];
  paid?: Pick<OrderFindings, 'paidBefore'>;
  unknown?: string[];
}

/** Asks the policy about an order. Reserves nothing. */
async function policyOf(
  deps: ActivityDeps,
  account: Account,
  { type, request, terms }: Checked,
): Promise<PolicyFindings> {
  try {
    const breaches = await breachesBefore(deps, { account: account.name, type, request, rates: terms.rates }, false);
    const of = (effect: Breach['effect']) => breachText(breaches.filter((one) => one.effect === effect));
    const refusal = of('refuse');
    const warnings = of('warn');
    const paidBefore = breaches.flatMap(({ paid = [] }) => paid);
    const shown = { ...(warnings && { warnings: [warnings] }), ...(paidBefore.length > 0 && { paid: { paidBefore } }) };
    return refusal ? { ...shown, refusal: `the policy refuses it: ${refusal}` } : { ...shown, question: of('park') };
  } catch (error) {
    return { unknown: [`the policy could not be asked (${reasonOf(error)})`] };
  }
}
