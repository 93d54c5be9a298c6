import type { CreateVerdict } from '../../contract/order/activities.js';
import type { RunInput } from '../../contract/order/input-and-result.js';
import { type Breach, breachText } from '../../contract/policy/rules.js';
import { policyDigest } from '../../temporal/published.js';
import { notSent, notSentBecause } from '../order/create-attempt.js';
import { type Attempted, capsFor, exceededCap } from '../order/limits.js';
import { breachesBefore } from './ask.js';
import { isJudged } from './payout.js';

/**
 * Asks the policy before the probe of a create. Returns why the order may not be sent; undefined
 * if it may, which reserves it, and if it is `closed`: nothing is sent then.
 */
export async function policyVerdict(
  { deps, account, attempt, request, terms: { rates } }: Omit<Attempted, 'notes'>,
  closed: unknown,
): Promise<CreateVerdict | undefined> {
  const { type, approved, approvedRules } = attempt;
  if (closed || !isJudged(type)) return undefined;
  const { name } = account;
  const policy = deps.policies?.get(name);
  const own = policy && policyDigest(policy);
  if (deps.others?.(name).some((other) => other.policy !== undefined && other.policy !== own))
    return notSent(`another worker of the account has ${policy ? 'another' : 'a'} POLICY_FILE: give all the same one`);
  // A person is asked about the cap first, and nothing is reserved meanwhile.
  if (exceededCap(capsFor(deps, account, attempt), type, request, rates, approved)) return undefined;
  try {
    if (!policy) {
      await deps.policyDesk?.close(name);
      return undefined;
    }
    const { followUpOf } = attempt.input as RunInput;
    const follows = followUpOf?.map(({ user_order_id: orderId }) => orderId);
    const judged = { account: name, type, request, rates, approved: approvedRules, follows };
    return verdictOf(await breachesBefore(deps, judged, true));
  } catch (error) {
    return notSentBecause('the policy could not be asked', error);
  }
}

function verdictOf(breaches: readonly Breach[]): CreateVerdict | undefined {
  if (breaches.length === 0) return undefined;
  const refusing = breaches.filter(({ effect }) => effect === 'refuse');
  if (refusing.length > 0) return { kind: 'stale', reason: `the policy refuses it: ${breachText(refusing)}` };
  const rules = [...new Map(breaches.map(({ rule, approvers }) => [rule, { rule, approvers }])).values()];
  return { kind: 'policy', reason: breachText(breaches), rules };
}
