import { toAmount } from '../../contract/money.js';
import type { ApprovedAmount, DecideAction, Decision, DecisionChoice } from '../../contract/order/messages.js';
import { WHY, YOUR_NAME } from '../../contract/placeholders.js';
import { ACCEPT_CHANGE, CLOSE_CONFLICT, DECISION_WORDS } from '../../contract/words.js';
import type { Offer } from '../compensation/offers.js';
import { needsPerson } from '../create/next-action.js';
import type { Candidate, OrderRun } from './state.js';

/**
 * Every decision that would be taken now. THE source of what the UI shows to be pasted, of what the state and the command line
 * offer, and of what a refusal names.
 */
export function decisionsOf(run: OrderRun): DecisionChoice[] {
  const { attention, parked } = run;
  if (!attention || parked.decision) return [];
  return attention.allowed.flatMap((action) => choicesOf(run, action));
}

/** What is particular to a choice; the rest is the same for all of them. */
type Way = Omit<DecisionChoice, 'decision'> & {
  decision?: Pick<Decision, 'kind' | 'as' | 'order_uuid' | 'differences' | 'amount' | 'currency'>;
};

function choicesOf(run: OrderRun, action: DecideAction): DecisionChoice[] {
  const { revision, runId } = run;
  const alone = whyAlone(run, action);
  return waysOf(run, action).map(({ decision, ...way }) => ({
    ...way,
    ...(alone && { alone }),
    decision: { action, ...decision, by: YOUR_NAME, reason: WHY, revision, runId },
  }));
}

/** Why the order's own reason has to be read: its code does not say all that speaks against moving money. */
function whyAlone({ facts }: OrderRun, action: DecideAction): string | undefined {
  if (action !== 'resend' && action !== 'finish' && action !== 'revert') return undefined;
  if (facts.cancelled) return 'it was cancelled';
  if (action !== 'resend') return undefined;
  if (facts.doubt) return 'it is not proven absent';
  return needsPerson(facts) ? 'its reason names more than its absence' : undefined;
}

function waysOf(run: OrderRun, action: DecideAction): Way[] {
  switch (action) {
    case 'resend':
      return [{ does: DECISION_WORDS.resend }];
    case 'close-absent':
      return [{ does: run.attention?.code === 'conflict' ? CLOSE_CONFLICT : DECISION_WORDS['close-absent'] }];
    case 'adopt':
      return adoptions(run);
    case 'approve':
      return [approvalOf(run.attention)];
    case 'refuse':
      return [{ does: DECISION_WORDS.refuse }];
    case 'accept':
      return [{ does: run.attention?.code === 'changed-after-end' ? ACCEPT_CHANGE : DECISION_WORDS.accept }];
    case 'finish':
    case 'revert':
      return run.parked.offers.filter(({ move }) => move.action === action).map(wayOf);
  }
}

function approvalOf({ amount, currency }: Partial<ApprovedAmount> = {}): Way {
  if (!currency) return { does: 'says that this is the right account; the order goes on there' };
  const does = amount
    ? `sends it for up to ${amount} ${currency}; if it comes to more by then, asks again`
    : `sends it, whatever it comes to in ${currency}`;
  return { does, ...(amount && { amount }), currency, decision: { ...(amount && { amount }), currency } };
}

function adoptions({ parked: { candidates } }: OrderRun): Way[] {
  if (candidates.length === 0) return [{ does: 'follows the order that you name', needs: 'order_uuid' }];
  return candidates.map((candidate) => ({ does: adoptionOf(candidate), decision: candidate }));
}

const adoptionOf = ({ order_uuid: orderUuid, differences }: Candidate): string =>
  `follows order ${orderUuid}${differences ? ` as ours although it differs in ${differences.join(', ')}; no follow-up is sent for it` : ''}`;

function wayOf({ move, amount, currency, names }: Offer): Way {
  const { kind, as } = move;
  return {
    does: doesOf(move, `${toAmount(amount)} ${currency}`),
    amount: toAmount(amount),
    currency,
    ...(names?.required && { needs: names.field }),
    decision: { ...(kind && { kind }), as },
  };
}

function doesOf({ action, as }: Offer['move'], amount: string): string {
  if (action === 'revert') return as === 'exchange' ? `exchanges ${amount} back` : `pays ${amount} back`;
  if (as === 'exchange') return `exchanges ${amount}`;
  return as === 'withdraw' ? `pays ${amount}` : `exchanges ${amount} and pays what comes of it`;
}
