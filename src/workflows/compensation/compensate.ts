import { CancellationScope, condition, sleep, workflowInfo } from '@temporalio/workflow';
import { maskWords } from '../../contract/masking.js';
import { toAmount } from '../../contract/money.js';
import type { CompensationResult, OrderResult, Remainder } from '../../contract/order/input-and-result.js';
import { ATTENTION_AFTER_MS } from '../../contract/order/messages.js';
import type { CardPart } from '../../contract/order/request.js';
import type { Order } from '../../contract/service-objects.js';
import { watch } from '../activity-calls.js';
import { ask } from '../ask/ask.js';
import { isCreatedHere, isHeld } from '../create/facts.js';
import { isOrderRun } from '../identity.js';
import { resultOf } from '../order/end.js';
import { emit } from '../order/events.js';
import { enterPhase, type ParkQuestion, parkUnless, raiseAttention, WAS_CANCELLED } from '../order/show.js';
import { answeredIn, type OrderRun, recordPayers } from '../order/state.js';
import { type Assessment, assess, readAgain, readForAccept, type Sent } from './assess.js';
import { paidBeyond } from './checks.js';
import { type Case, remainders, requestedAmount } from './figures.js';
import { type FollowUp, type Funds, followUpCosts } from './moves.js';
import {
  CANCELLED_BEFORE_SEND,
  type Ending,
  isCompleted,
  lostBeside,
  type MoveFacts,
  type NextMove,
  nextMove,
  remainderDoubts,
} from './next-move.js';
import { actionsOf, chooseOffer, describeOffer } from './offers.js';
import { followExisting, sendFollowUp } from './send-follow-up.js';
import { PAID_IN_PART } from './table.js';

/** Runs the compensation after the first final status. `nextMove` alone decides the next step. */
export async function compensate(run: OrderRun, final: Order): Promise<OrderResult> {
  emit(run, 'order.final', {}, final.status === 'completed');
  if (final.status === 'completed') {
    const policy = run.input.compensation ?? 'report';
    const beyond = paidBeyond(final);
    if (beyond) raiseAttention(run, 'undocumented-end', beyond);
    return resultOf(run, { compensation: { policy, status: 'none' } });
  }
  enterPhase(run, 'compensating', 'the balance changes of the order');
  const assessment = await assess(run, []);
  const { row } = assessment;
  if (row.attention) raiseAttention(run, 'undocumented-end', row.name);
  const { revertTo } = run.input;
  const known = revertTo && { revertTo };
  for (let facts: Learnt = { assessment }; ; ) {
    const now = { cancelled: run.facts.cancelled, laterPayers: run.payers?.later, onlyByPerson: onlyByPerson(run) };
    const next = nextMove({ ...known, ...facts, ...now });
    if (next.do === 'end') return endAs(run, facts.assessment, next.as);
    facts = await perform(run, facts, next);
  }
}

type Learnt = Omit<MoveFacts, 'cancelled' | 'onlyByPerson' | 'revertTo' | 'laterPayers'>;

/** Returns why no policy moves money: a hold, or decisions that another run may have taken. */
function onlyByPerson(run: OrderRun): string | undefined {
  if (isHeld(run.facts)) return `nothing is paid by itself: ${run.facts.blocked?.why}`;
  const isFirst = answeredIn(run) === workflowInfo().firstExecutionRunId;
  return isFirst && (isCreatedHere(run.facts) || !isOrderRun())
    ? undefined
    : 'nothing is paid by itself: another run sent it, and a person may have decided there';
}

async function perform(run: OrderRun, facts: Learnt, next: Exclude<NextMove, { do: 'end' }>): Promise<Learnt> {
  const { assessment } = facts;
  switch (next.do) {
    case 'ask':
      return askPerson(run, assessment, next);
    case 'read again': {
      enterPhase(run, 'compensating', 'the second reading before money moves');
      await sleep(run.strictest.pace?.confirmDelayMs ?? 0, { summary: 'Before the second reading' });
      const second = await assess(run, assessment.sent, assessment);
      return { assessment: second, before: assessment, choice: next.choice };
    }
    case 'check': {
      const readAtMs = Date.now();
      const check = await checkFollowUp(run, next.followUp);
      recordPayers(run, check.orderPayers);
      // After a reset, the run before it may have sent a follow-up since its readings.
      const isOfAnotherRun = assessment.readings.some(({ runId }) => runId !== check.runId);
      const isOld = Date.now() - readAtMs > ATTENTION_AFTER_MS || isOfAnotherRun;
      return { ...facts, check: { ...check, isOld } };
    }
    case 'follow up': {
      const { followUp, choice, basis, exists, payers } = next;
      enterPhase(run, 'compensating', `the follow-up ${followUp.request.order_id}`);
      const end = exists ? await followExisting(run, followUp) : await sendFollowUp(run, followUp, basis);
      return { assessment, ended: { ...followUp, move: choice.offer.move, payers, end } };
    }
    case 'read after it': {
      const { ended } = next;
      enterPhase(run, 'compensating', 'the balance changes of the order');
      return { assessment: await assess(run, [...assessment.sent, ended], assessment), ended };
    }
  }
}

function checkFollowUp(run: OrderRun, { type, request }: FollowUp) {
  const summary = 'Do limits, precision and balance allow the follow-up?';
  const order = { type: run.type, request: run.request };
  return ask(run, { summary, alarm: true }, (reads) =>
    reads.checkFollowUp({ account: run.account, type, request, order }),
  );
}

type Asked = Extract<NextMove, { do: 'ask' }>;

/**
 * Asks an operator: `accept` ends the order as it is, `finish` and `revert` choose an offer. Returns
 * a newer reading if a callback led to another question.
 */
async function askPerson(run: OrderRun, read: Assessment, asked: Asked): Promise<Learnt> {
  const assessment = asked.doubts ? { ...read, doubts: asked.doubts, offers: [] } : read;
  const { offers } = assessment;
  const scope = new CancellationScope();
  const other = scope.run(() => untilOther(run, read, asked));
  const question = { code: 'remainder', ...questionOf(run, assessment, asked.why), offers } as const;
  const decision = await parkUnless(run, question, watch(other));
  scope.cancel();
  if (!decision) return { assessment: await other, before: read };
  enterPhase(run, 'compensating', 'what was decided');
  if (decision.action === 'accept') {
    return { assessment: await readBeforeEnd(run, assessment), accepted: decision };
  }
  const offer = chooseOffer(offers, decision);
  if (typeof offer === 'string') throw new Error(`a decision that cannot be: ${offer}`);
  const revertTo = decision.revertTo ?? run.input.revertTo;
  const cards = decision.wallet_details as CardPart[] | undefined;
  const named = { ...(revertTo && { revertTo }), ...(cards && { cards }) };
  // The operator saw the cancellation, if there was one.
  return { assessment, choice: { offer, named, decided: { afterCancel: run.facts.cancelled } } };
}

function questionOf(run: OrderRun, s: Assessment, why: string): Pick<ParkQuestion, 'reason' | 'allowed'> {
  const { case: c, funds, doubts, sentDoubts, offers } = s;
  const found = remainderDoubts(s)
    .slice(doubts.length + sentDoubts.length)
    .map((words) => `${words}: finish or revert takes it up`);
  const shown = leftNow(c, funds).map(({ kind, amount, currency }) => `${kind} ${amount} ${currency}`);
  const [happened, left] = why === PAID_IN_PART && offers.length > 0 ? [paidInPart(s), []] : [why, shown];
  const costs = new Set(offers.flatMap(({ move }) => followUpCosts(c, move)));
  const cancelled = run.facts.cancelled && why !== CANCELLED_BEFORE_SEND ? [WAS_CANCELLED] : [];
  const reason = [happened, ...cancelled, ...left, ...costs, ...doubts, ...sentDoubts, ...found].join('; ');
  return { reason, allowed: actionsOf(offers) };
}

const [FIRST_WAIT_MS, LONGEST_WAIT_MS] = [1_000, 3_600_000];

/** Reads after each callback, ever more slowly, until the question would be another one. */
async function untilOther(run: OrderRun, read: Assessment, { why }: Asked): Promise<Assessment> {
  const asked = (s: Assessment) => JSON.stringify([questionOf(run, s, why), s.offers.map(describeOffer)]);
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
    await condition(() => run.callback.isDue);
    const now = await readAgain(run, read);
    if (now && asked(now) !== asked(read)) return now;
    await sleep(waitMs, { summary: 'Before the next callback is heard' });
  }
}

/** Reads once more what an operator leaves. A silent service makes it unknown. */
async function readBeforeEnd(run: OrderRun, assessment: Assessment): Promise<Assessment> {
  const now = await readForAccept(run, assessment);
  if (now) return now;
  // Raised by this reading, which is over.
  run.attention = undefined;
  return { ...assessment, doubts: [...assessment.doubts, UNREAD] };
}

const UNREAD = 'the service did not show the order again before it was ended, so something may have moved since';

function paidInPart({ case: c, funds }: Assessment): string {
  const { currency_to: currency } = c.order;
  const [paid, all, left] = [funds.paid, requestedAmount(c), funds.unpaid].map(toAmount);
  return `${paid} of ${all} ${currency} were paid. ${left} ${currency} are left. Pay the rest (finish) or leave it (accept)`;
}

function endAs(run: OrderRun, s: Assessment, as: Ending): OrderResult {
  const { row, policy, sent } = s;
  const doubts = remainderDoubts(s);
  switch (as.kind) {
    case 'nothing left':
      return resultOf(run, { compensation: { policy, status: 'none', reason: row.name } });
    case 'reported':
      if (doubts.length > 0) raiseAttention(run, 'remainder-unknown', `what is left is unknown: ${doubts.join('; ')}`);
      return concluded(run, s, { status: 'none', reason: row.name });
    case 'not possible':
      raiseAttention(run, 'below-minimum', [as.why, ...doubts].join('; '));
      return concluded(run, s, { status: 'not_possible', reason: as.why });
    case 'followed up':
      return endedWith(run, { ...s, funds: as.funds }, as.last, as.costs);
    case 'accepted': {
      const accepted = `accepted by ${maskWords(as.by)}: ${maskWords(as.reason)}`;
      const last = sent.at(-1);
      if (!last) return concluded(run, s, { status: 'none', reason: accepted });
      return endedWith(run, s, last, isCompleted(last) ? accepted : `${last.end.how}; ${accepted}`);
    }
  }
}

function endedWith(run: OrderRun, s: Assessment, last: Sent, reason?: string): OrderResult {
  const { end, request } = last;
  return concluded(
    run,
    { ...s, lost: lostBeside(s, last) },
    {
      status: isCompleted(last) ? 'done' : 'failed',
      order_id: request.order_id,
      outcome: end.kind === 'final' ? end.outcome : undefined,
      reason,
    },
  );
}

const leftNow = (c: Case, { unexchanged, returned, unpaid }: Funds): Remainder[] =>
  remainders(c, { unexchanged: unexchanged.plus(returned), unpaid });

/** Returns the result: what is left after all follow-ups, and what was done. */
function concluded(run: OrderRun, s: Assessment, done: Omit<CompensationResult, 'policy'>): OrderResult {
  const { case: c, funds, policy } = s;
  const doubts = remainderDoubts(s);
  const about = doubts.length === 0 ? { remainder: leftNow(c, funds) } : { remainderUnknown: doubts.join('; ') };
  return resultOf(run, { ...about, compensation: { policy, ...done } });
}
