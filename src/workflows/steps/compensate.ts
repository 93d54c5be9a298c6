import { proxyActivities, sleep } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.js';
import type { OutcomeReading } from '../../contract/answers.js';
import { followUpOrderId } from '../../contract/ids.js';
import type { CompensationPolicy, DecideAction, OrderResult } from '../../contract/orders.js';
import { failedChecks } from '../compensation/checks.js';
import { type Case, type Figures, figures, remainders } from '../compensation/figures.js';
import { type FollowUp, finishingOrder, followUpCosts } from '../compensation/follow-up.js';
import { type Row, rowOf } from '../compensation/table.js';
import { runFollowUp } from './follow-up.js';
import { keepAsking } from './keep-asking.js';
import type { OrderRun } from './order-run.js';
import { park } from './park.js';
import { enterPhase, raiseAttention } from './phase.js';
import { readOnly } from './profiles.js';
import { resultOf } from './result.js';

/** What is known about a final order when it is decided what to do about it. */
interface Assessment {
  reading: OutcomeReading;
  case: Case;
  left: Figures;
  row: Row;
  policy: CompensationPolicy;
  /** Why the figures may not be believed; empty = they may. */
  doubts: string[];
}

/**
 * What happens after the first final status: by policy and table, report what is left, ask a person, or finish the
 * order by a follow-up. Money moves only at the end of `finish`.
 */
export async function compensate(run: OrderRun): Promise<OrderResult> {
  const order = run.finalOrder ?? run.order;
  if (!order) throw new Error('compensation needs a final order');
  if (order.status === 'completed') {
    const policy = run.input.compensation ?? 'report';
    return resultOf(run, { compensation: { policy, status: 'none' } });
  }
  enterPhase(run, 'compensating', 'the balance changes of the order');
  const assessment = await assess(run);
  const { row, policy, reading } = assessment;
  if (row.attention) raiseAttention(run, row.name);
  if (row.nothingLeft && reading.order.status === order.status) {
    return resultOf(run, { compensation: { policy, status: 'none', reason: row.name } });
  }
  if (policy === 'report' || (policy === 'revert' && row.revert === 'report')) return report(run, assessment);
  if (policy === 'finish' && row.finish === 'auto') return finish(run, assessment);
  return ask(run, assessment, row.name);
}

/** Reads status and list item and computes what is left. */
async function assess(run: OrderRun): Promise<Assessment> {
  const reading = await readOutcome(run);
  const c: Case = {
    type: run.type,
    request: run.request,
    order: reading.order,
    changes: reading.changes,
    payers: run.payers,
  };
  const left = figures(c);
  const row = rowOf(c, left);
  const policy = run.input.compensation ?? row.byDefault;
  const doubts = [
    ...(row.untold ? ['no figure says what is left'] : []),
    ...contradictions(run, reading),
    ...reading.disagreements,
    ...failedChecks(c, left),
  ];
  return { reading, case: c, left, row, policy, doubts };
}

/** The first final status wins: what the service says differently later is for a person and moves no money. */
function contradictions({ finalOrder }: OrderRun, { order }: OutcomeReading): string[] {
  if (!finalOrder || finalOrder.status === order.status) return [];
  return [`the final status was ${finalOrder.status} and now reads ${order.status}`];
}

function readOutcome(run: OrderRun): Promise<OutcomeReading> {
  const { readOutcome: read } = proxyActivities<Activities>({
    ...readOnly(run.account),
    summary: 'Read status and balance changes',
  });
  const input = {
    account: run.account,
    orderId: run.orderId,
    orderUuid: run.order?.order_uuid ?? '',
    ...(run.host && { host: run.host }),
  };
  return keepAsking(run, () => read(input));
}

/** Says what is left, moves nothing and never parks. Where the remainder cannot be told, it says that instead. */
function report(run: OrderRun, { case: c, left, row, policy, doubts }: Assessment): OrderResult {
  const compensation = { policy, status: 'none', reason: row.name } as const;
  if (doubts.length === 0) return resultOf(run, { remainder: remainders(c, left), compensation });
  raiseAttention(run, `what is left cannot be told: ${doubts.join('; ')}`);
  return resultOf(run, { remainderUnknown: doubts.join('; '), compensation });
}

/** A person decides: `accept` ends the order as it is, `finish` starts the follow-up where the table allows one. */
async function ask(run: OrderRun, assessment: Assessment, why: string): Promise<OrderResult> {
  const { case: c, left, row, policy, doubts } = assessment;
  const mayFinish = row.finish !== 'never' && doubts.length === 0;
  const followUp = mayFinish ? finishingOrder(c, left, followUpOrderId(run.orderId, 1)) : undefined;
  const allowed: DecideAction[] = followUp ? ['finish', 'accept'] : ['accept'];
  const costs = followUp ? followUpCosts(c, followUp) : [];
  const shown = remainders(c, left).map(({ kind, amount, currency }) => `${kind} ${amount} ${currency}`);
  const decision = await park(run, [why, ...shown, ...costs, ...doubts].join('; '), allowed);
  enterPhase(run, 'compensating', 'what was decided');
  if (decision.action === 'finish') return finish(run, assessment);
  return resultOf(run, {
    ...(doubts.length === 0 ? { remainder: remainders(c, left) } : { remainderUnknown: doubts.join('; ') }),
    compensation: { policy, status: 'none', reason: `accepted by ${decision.by}: ${decision.reason}` },
  });
}

/**
 * THE place where compensation moves money. Everything must hold: no doubt about the figures, exactly one side left,
 * a second equal reading after ORDER_CONFIRM_DELAY, limits, precision and balance. Anything else goes to a person.
 */
async function finish(run: OrderRun, assessment: Assessment): Promise<OrderResult> {
  const { case: c, left, policy, doubts } = assessment;
  const followUp = finishingOrder(c, left, followUpOrderId(run.orderId, 1));
  if (doubts.length > 0 || !followUp) return ask(run, assessment, assessment.row.name);
  enterPhase(run, 'compensating', 'the second reading before money moves');
  await sleep(run.pace?.confirmDelayMs ?? 0, { summary: 'Two equal readings before money moves' });
  const second = await assess(run);
  if (!sameReading(assessment.reading, second.reading)) return ask(run, second, 'two readings of the order differ');
  const check = await checkFollowUp(run, followUp);
  // The figures still hold and the reason may pass (a balance is topped up): finishing may be decided once more.
  if (check.kind === 'refused') return ask(run, second, `the follow-up cannot be sent: ${check.reason}`);
  const remainder = remainders(c, left);
  if (check.kind === 'belowMinimum') {
    raiseAttention(run, check.reason);
    return resultOf(run, { remainder, compensation: { policy, status: 'not_possible', reason: check.reason } });
  }
  enterPhase(run, 'compensating', `the follow-up ${followUp.request.order_id}`);
  const ended = await runFollowUp(run, followUp);
  const [costs] = ended.status === 'done' ? followUpCosts(c, followUp) : [];
  const compensation = { policy, order_id: followUp.request.order_id, ...(costs && { reason: costs }), ...ended };
  return resultOf(run, { remainder, compensation });
}

function checkFollowUp(run: OrderRun, { type, request }: FollowUp) {
  const { checkFollowUp: check } = proxyActivities<Activities>({
    ...readOnly(run.account),
    summary: 'Do limits, precision and balance allow the follow-up?',
  });
  return keepAsking(run, () => check({ account: run.account, type, request }));
}

/** Equal in everything that money depends on; `updated_at` may move. */
function sameReading(first: OutcomeReading, second: OutcomeReading): boolean {
  const money = ({ order, changes, disagreements }: OutcomeReading) =>
    JSON.stringify([
      order.status,
      order.amount_from,
      order.amount_to,
      order.amount_from_fee,
      order.amount_to_fee,
      order.exchange_rate_actual,
      changes,
      disagreements,
    ]);
  return money(first) === money(second);
}
