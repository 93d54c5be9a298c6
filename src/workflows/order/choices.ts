import { ACCEPT_CHANGE, CLOSE_CONFLICT, DECISION_WORDS, WHY, YOUR_NAME } from '../../contract/attention.js';
import { toAmount } from '../../contract/money.js';
import type { ApprovedAmount, DecideAction, Decision, DecisionChoice } from '../../contract/order/messages.js';
import type { Offer } from '../compensation/offers.js';
import { needsPerson } from '../create/next-action.js';
import type { Candidate } from '../create/seen.js';
import type { OrderRun } from './state.js';

/** Returns every decision that is possible now. */
export function decisionsOf(run: OrderRun): DecisionChoice[] {
  const { attention, parked } = run;
  if (!attention || parked.decision) return [];
  return attention.allowed.flatMap((action) => choicesOf(run, action));
}

/** What differs between choices. */
type Variant = Omit<DecisionChoice, 'decision'> & {
  decision?: Pick<Decision, 'kind' | 'as' | 'order_uuid' | 'differences' | 'amount' | 'currency'>;
};

function choicesOf(run: OrderRun, action: DecideAction): DecisionChoice[] {
  const { revision, runId } = run;
  const alone = aloneReason(run, action);
  return waysOf(run, action).map(({ decision, ...way }) => ({
    ...way,
    ...(alone && { alone }),
    decision: { action, ...decision, by: YOUR_NAME, reason: WHY, revision, runId },
  }));
}

/** Returns why an operator has to read this order's own reason before money moves. */
function aloneReason({ facts }: OrderRun, action: DecideAction): string | undefined {
  if (action !== 'resend' && action !== 'finish' && action !== 'revert') return undefined;
  if (facts.cancelled) return 'it was cancelled';
  if (action !== 'resend') return undefined;
  if (facts.doubt) return 'it is not proven absent';
  return needsPerson(facts) ? 'its reason names more than its absence' : undefined;
}

function waysOf(run: OrderRun, action: DecideAction): Variant[] {
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

function approvalOf({ amount, currency }: Partial<ApprovedAmount> = {}): Variant {
  if (!currency) return { does: 'confirms that this is the right account; the order continues there' };
  const does = amount
    ? `sends it for up to ${amount} ${currency}; if the amount is higher by then, asks again`
    : `sends it, whatever the amount in ${currency} is`;
  return { does, ...(amount && { amount }), currency, decision: { ...(amount && { amount }), currency } };
}

function adoptions({ parked: { candidates } }: OrderRun): Variant[] {
  if (candidates.length === 0) return [{ does: 'follows the order that you name', needs: 'order_uuid' }];
  return candidates.map((candidate) => ({ does: adoptionOf(candidate), decision: candidate }));
}

const adoptionOf = ({ order_uuid: orderUuid, differences }: Candidate): string =>
  `follows order ${orderUuid}${differences ? ` as ours although it differs in ${differences.join(', ')}; no follow-up is sent for it` : ''}`;

function wayOf({ move, amount, currency, names }: Offer): Variant {
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
