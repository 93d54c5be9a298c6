import { toAmount } from '../../contract/money.js';
import type { OrderResult } from '../../contract/order/input-and-result.js';
import type { TakenDecision } from '../../contract/order/messages.js';
import type { CardPart } from '../../contract/order/request.js';
import type { Order } from '../../contract/service-objects.js';
import { resultOf } from '../order/end.js';
import { park } from '../order/park.js';
import { enterPhase, raiseAttention, WAS_CANCELLED } from '../order/show.js';
import type { OrderRun } from '../order/state.js';
import { type Assessment, assess } from './assess.js';
import {
  acceptedBy,
  CANCELLED_BEFORE_SEND,
  type Choice,
  concluded,
  endedWith,
  isCompleted,
  moveMoney,
  untold,
} from './move-money.js';
import { followUpCosts, type Named } from './moves.js';
import { actionsOf, chooseOffer, describeOffer, offerByPolicy } from './offers.js';

/** What happens after the first final status, by policy and table. Money moves only in `moveMoney`. */
export async function compensate(run: OrderRun, final: Order): Promise<OrderResult> {
  if (final.status === 'completed') {
    const policy = run.input.compensation ?? 'report';
    return resultOf(run, { compensation: { policy, status: 'none' } });
  }
  enterPhase(run, 'compensating', 'the balance changes of the order');
  const assessment = await assess(run, []);
  const { row, policy, readings, lost } = assessment;
  if (row.attention) raiseAttention(run, 'undocumented-end', row.name);
  if (row.nothingLeft && readings[0]?.order.status === final.status && lost.length === 0) {
    return resultOf(run, { compensation: { policy, status: 'none', reason: row.name } });
  }
  if (policy === 'report' || (policy === 'revert' && row.revert === 'report')) return report(run, assessment);
  return followUp(run, assessment);
}

/** Sends follow-ups until nothing is left to decide: the first perhaps by policy, every other one by a person. */
async function followUp(run: OrderRun, opening: Assessment): Promise<OrderResult> {
  const offer = offerByPolicy(opening.offers, opening.row, opening.policy);
  let assessment = opening;
  let choice = offer ? { offer, named: namedBy(run) } : await askPerson(run, assessment, assessment.row.name);
  for (;;) {
    if ('accepted' in choice) return accept(run, assessment, choice.accepted);
    const step = await moveMoney(run, assessment, choice);
    if ('result' in step) return step.result;
    assessment = step.assessment;
    choice = await askPerson(run, assessment, step.why);
  }
}

/** Says what is left, moves nothing and never parks. Where the remainder cannot be told, it says that instead. */
function report(run: OrderRun, assessment: Assessment): OrderResult {
  const { row } = assessment;
  const doubts = untold(assessment);
  if (doubts.length > 0) raiseAttention(run, 'remainder-unknown', `what is left cannot be told: ${doubts.join('; ')}`);
  return concluded(run, assessment, { status: 'none', reason: row.name });
}

/** A person decides: `accept` ends the order as it is, `finish` and `revert` take up one of the offers. */
async function askPerson(
  run: OrderRun,
  assessment: Assessment,
  why: string,
): Promise<Choice | { accepted: TakenDecision }> {
  const { case: c, purse, doubts, sentDoubts, offers } = assessment;
  const found = untold(assessment)
    .slice(doubts.length)
    .map((words) => `${words}: finish or revert takes it up`);
  const kinds = [
    { kind: 'unexchanged', amount: purse.unexchanged.plus(purse.returned), currency: c.order.currency_from },
    { kind: 'unpaid', amount: purse.unpaid, currency: c.order.currency_to },
  ];
  const shown = kinds.flatMap(({ kind, amount, currency }) =>
    amount.gt(0) ? [`${kind} ${toAmount(amount)} ${currency}`] : [],
  );
  const possible = offers.length > 0 ? [`possible: ${offers.map(describeOffer).join(', ')}`] : [];
  const costs = new Set(offers.flatMap(({ move }) => followUpCosts(c, move)));
  const cancelled = run.cancelRequested && why !== CANCELLED_BEFORE_SEND ? [WAS_CANCELLED] : [];
  const reason = [why, ...cancelled, ...shown, ...possible, ...costs, ...doubts, ...sentDoubts, ...found].join('; ');
  const decision = await park(run, { code: 'remainder', reason, allowed: actionsOf(offers), offers });
  enterPhase(run, 'compensating', 'what was decided');
  if (decision.action === 'accept') return { accepted: decision };
  const offer = chooseOffer(offers, decision);
  // The validator took this decision on these offers.
  if (typeof offer === 'string') throw new Error(`a decision that cannot be: ${offer}`);
  // Taken on a revision that shows a cancellation, if there was one.
  return { offer, named: namedBy(run, decision), afterCancel: run.cancelRequested };
}

/** What the decision names, else what the order's own input does. */
function namedBy(run: OrderRun, decision?: TakenDecision): Named {
  const revertTo = decision?.revertTo ?? run.input.revertTo;
  const cards = decision?.wallet_details as CardPart[] | undefined;
  return { ...(revertTo && { revertTo }), ...(cards && { cards }) };
}

/** A person ends the order as it is. Nothing was sent: 'none'; otherwise the last follow-up's end says what came of it. */
function accept(run: OrderRun, assessment: Assessment, { by, reason }: TakenDecision): OrderResult {
  const accepted = acceptedBy(by, reason);
  const last = assessment.sent.at(-1);
  if (!last) return concluded(run, assessment, { status: 'none', reason: accepted });
  return endedWith(run, assessment, last, isCompleted(last) ? accepted : `${last.end.how}; ${accepted}`);
}
