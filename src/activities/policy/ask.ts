import type { Policy } from '../../config.js';
import {
  type BreachedRule,
  type CreateOrderInput,
  type CreateVerdict,
  windowOf,
} from '../../contract/order/activities.js';
import type { RunInput } from '../../contract/order/input-and-result.js';
import type { CreateRequest } from '../../contract/order/request.js';
import { isOrderType, type OrderType } from '../../contract/order/types.js';
import type { Spend } from '../../contract/policy/ledger.js';
import { type Breach, breachesOf, breachText, spendsOf, testRules } from '../../contract/policy/rules.js';
import type { Order, Rates } from '../../contract/service-objects.js';
import type { Account, ActivityDeps } from '../deps.js';
import { reasonOf } from '../failures.js';
import { notSent, notSentBecause } from '../order/create-attempt.js';
import { type Attempted, capsFor, exceededCap } from '../order/limits.js';
import { isOtherPolicy, protectionsIn } from '../protections.js';
import { askedAmounts, isJudged, payoutOf } from './payout.js';
import { shownAs, shownPayees } from './settle.js';

/** Order to judge. `approved`: rules that persons approved for it. */
interface Judged {
  account: string;
  type: OrderType;
  request: CreateRequest;
  rates: Rates | undefined;
  approved?: readonly BreachedRule[] | undefined;
  /** Orders whose remainder it moves. */
  follows?: readonly string[] | undefined;
}

/** Returns an attempt as the policy judges it. */
const judgedOf = ({ type, account, input }: CreateOrderInput, request: CreateRequest, rates: Rates | undefined) => ({
  ...{ account, type, request, rates },
  follows: (input as RunInput).followUpOf?.map(({ user_order_id: orderId }) => orderId),
});

/** Returns true if a rule needs the sums of the account. */
const isCounting = ({ rules }: Policy): boolean =>
  rules.some(({ rule }) => ['sum', 'count', 'new-payee', 'paid-before'].includes(rule));

/** Counts an order that the service shows, unless a reservation does: rules may have held it. */
async function countFound(
  { policies, policyDesk }: ActivityDeps,
  account: string,
  orderId: string,
  spendsBy: (policy: Policy) => readonly Spend[],
): Promise<void> {
  const policy = policies?.get(account);
  if (!policy || !isCounting(policy)) return;
  const spends = spendsBy(policy);
  const found = { orderId, spends, limits: [], reserve: true, isFound: true as const };
  if (spends.length > 0) await policyDesk?.ask(account, found);
}

/** Counts an order that the service shows, although its run ended without one. */
export async function countShown(deps: ActivityDeps, account: string, order: Order): Promise<void> {
  const { order_type: type, order_uuid: uuid } = order;
  if (isOrderType(type) && isJudged(type))
    await countFound(deps, account, uuid, (policy) => shownAs(policy, type, order).spends);
}

/** Counts an order that the service shows for a request. `other`: the order, if it differs. */
export async function countAdopted(
  deps: ActivityDeps,
  account: Account,
  type: OrderType,
  request: CreateRequest,
  other?: Order,
): Promise<void> {
  if (!isJudged(type) || !deps.policies?.has(account.name)) return;
  const amounts = askedAmounts(type, request, await account.rates.current());
  await countFound(deps, account.name, request.order_id, (policy) => {
    const payout = payoutOf(policy, type, request, amounts);
    const asked = payout.payees.map(({ payee }) => payee);
    const others = other ? shownPayees(policy, other).filter(({ payee }) => !asked.includes(payee)) : [];
    return spendsOf({ ...payout, payees: [...payout.payees, ...others] });
  });
}

/**
 * Returns the breaches of an order; [] if it may be sent, which reserves it. `reserve: false` only
 * asks. Throws if the sums could not be asked for.
 */
export async function breachesBefore(
  { policies, policyDesk, nowMs = Date.now }: ActivityDeps,
  { account, type, request, rates, approved = [], follows }: Judged,
  reserve: boolean,
): Promise<Breach[]> {
  const policy = policies?.get(account);
  if (!policy || !isJudged(type)) return [];
  const { rules } = policy;
  const payout = payoutOf(policy, type, request, askedAmounts(type, request, rates));
  // A warning would hold a reservation back.
  const asks = rules.filter(({ rule }) => !reserve || rule !== 'paid-before');
  const tested = testRules(asks, payout, approved, await nowMs());
  const isReserved = reserve && tested.breaches.length === 0;
  const limits = tested.limits.map(({ limit }) => limit);
  // Without rules about sums, nothing needs to be counted.
  const counts = isCounting(policy);
  if (!counts && reserve) await policyDesk?.close(account);
  if (!counts || (limits.length === 0 && !isReserved)) return tested.breaches;
  const question = { orderId: request.order_id, spends: spendsOf(payout), limits, reserve: isReserved };
  const failed = await policyDesk?.ask(account, { ...question, ...(follows && { follows }) });
  return [...tested.breaches, ...breachesOf(rules, tested, failed ?? [])];
}

/**
 * Asks the policy before the probe of a create. Returns why the order may not be sent; undefined
 * if it may, which reserves it, and if it is `closed`: nothing is sent then.
 */
async function policyVerdict(
  { deps, account, attempt, request, terms: { rates } }: Omit<Attempted, 'notes'>,
  closed: unknown,
): Promise<CreateVerdict | undefined> {
  const { type, approved, approvedRules } = attempt;
  if (closed || !isJudged(type)) return undefined;
  const { name } = account;
  const policy = deps.policies?.get(name);
  if (isOtherPolicy(deps, name))
    return notSent(`another worker of the account has ${policy ? 'another' : 'a'} POLICY_FILE: give all the same one`);
  // A person is asked about the cap first, and nothing is reserved meanwhile.
  if (exceededCap(capsFor(deps, account, attempt), type, request, rates, approved))
    return notSent('it was above a cap that holds no longer: the next try asks the policy');
  try {
    if (!policy) {
      await deps.policyDesk?.close(name);
      return undefined;
    }
    const { restoredAtMs, pace } = protectionsIn(deps, account);
    if (restoredAtMs !== undefined) await deps.policyDesk?.refresh(name, restoredAtMs + windowOf(pace, type));
    const judged = { ...judgedOf(attempt, request, rates), approved: approvedRules };
    return verdictOf(await breachesBefore(deps, judged, true));
  } catch (error) {
    return notSentBecause('the policy could not be asked', error);
  }
}

/** Maximum age of an answer before a send. New sums wait longer for what is being sent. */
const FRESH_MS = 2_000;

/**
 * Asks `policyVerdict`, and returns how to get its answer later. An old one is asked for again: the
 * sums may have been lost, and read again without the order.
 */
export async function policyAnswers(...about: Parameters<typeof policyVerdict>) {
  const ask = async () => ({ verdict: await policyVerdict(...about), atMs: performance.now() });
  let last = await ask();
  return async (): Promise<CreateVerdict | undefined> => {
    if (performance.now() - last.atMs > FRESH_MS) last = await ask();
    return last.verdict;
  };
}

const SAME = '; check first whether it is the same payment';

/** Notes payouts of the same payee and amount, if a person may be asked about the order now. */
export async function noteEarlier(attempted: Attempted, { kind, ...verdict }: CreateVerdict): Promise<void> {
  const { deps, account, attempt, request, terms, notes } = attempted;
  const isAsked = kind === 'policy' || kind === 'overCap' || kind === 'short' || 'stopped' in verdict;
  const policy = deps.policies?.get(account.name);
  const rules = policy?.rules.filter(({ rule }) => rule === 'paid-before') ?? [];
  if (!isAsked || !policy || rules.length === 0) return;
  try {
    const policies = new Map([[account.name, { ...policy, rules }]]);
    const found = await breachesBefore({ ...deps, policies }, judgedOf(attempt, request, terms.rates), false);
    for (const { rule, says, paid = [] } of found) notes.add(`${rule}: ${says}${paid.length > 0 ? SAME : ''}`);
  } catch (error) {
    notes.add(`earlier payouts to this payee could not be compared (${reasonOf(error)})`);
  }
}

function verdictOf(breaches: readonly Breach[]): CreateVerdict | undefined {
  if (breaches.length === 0) return undefined;
  const refusing = breaches.filter(({ effect }) => effect === 'refuse');
  if (refusing.length > 0) return { kind: 'stale', reason: `the policy refuses it: ${breachText(refusing)}` };
  const rules = breaches.map(({ rule, approvers, terms, amount }) => ({ rule, approvers, terms, amount }));
  return { kind: 'policy', reason: breachText(breaches), rules };
}
