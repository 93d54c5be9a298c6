import type { CreateVerdict } from '../../contract/order/activities.js';
import { type Breach, breachText } from '../../contract/policy/rules.js';
import type { ActivityDeps } from '../deps.js';
import { notSent, notSentBecause } from '../order/create-attempt.js';
import { type Attempted, capsFor, exceededCap } from '../order/limits.js';
import { breachesBefore } from './ask.js';

/**
 * Asks the policy before the probe of a create. Returns why the order may not be sent; undefined
 * if it may, which reserves it, and if it is `closed`: nothing is sent then.
 */
export async function policyVerdict(
  { deps, account, attempt, request, terms: { rates } }: Omit<Attempted, 'notes'>,
  closed: unknown,
): Promise<CreateVerdict | undefined> {
  if (closed) return undefined;
  const { name } = account;
  if (!deps.policies?.has(name)) return policyIsMissing(deps, name);
  const { type, approved, approvedRules = [] } = attempt;
  // A person is asked about the cap first, and nothing is reserved meanwhile.
  if (exceededCap(capsFor(deps, account, attempt), type, request, rates, approved)) return undefined;
  try {
    const judged = { account: name, type, request, rates, approved: approvedRules };
    return verdictOf(await breachesBefore(deps, judged, true));
  } catch (error) {
    return notSentBecause('the policy could not be asked', error);
  }
}

/** Refuses to send while another worker of the account has rules that this worker lacks. */
function policyIsMissing({ others }: ActivityDeps, account: string): CreateVerdict | undefined {
  const isMissing = others?.(account).some(({ policy }) => policy !== undefined);
  return isMissing ? notSent('another worker of the account has POLICY_FILE, and this one has none') : undefined;
}

function verdictOf(breaches: readonly Breach[]): CreateVerdict | undefined {
  if (breaches.length === 0) return undefined;
  const refusing = breaches.filter(({ effect }) => effect === 'refuse');
  if (refusing.length > 0) return { kind: 'stale', reason: `the policy refuses it: ${breachText(refusing)}` };
  const rules = [...new Map(breaches.map(({ rule, approvers }) => [rule, { rule, approvers }])).values()];
  return { kind: 'policy', reason: breachText(breaches), rules };
}
