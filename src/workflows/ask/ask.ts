import {
  ActivityFailure,
  type ActivityOptions,
  CancellationScope,
  condition,
  isCancellation,
  sleep,
} from '@temporalio/workflow';
import { KEY_REFUSED } from '../../contract/failures.js';
import type {
  Circumstances,
  CreateAnswer,
  ElsewhereAnswer,
  LookUpAnswer,
  LookUpInput,
} from '../../contract/order/activities.js';
import { ATTENTION_AFTER_MS, type Attention } from '../../contract/order/messages.js';
import { stricter } from '../../contract/order/stricter.js';
import { ALARM, answersWithin, failureOf, readOnly, watch } from '../activity-calls.js';
import { record } from '../create/apply-outcome.js';
import type { Doubt } from '../create/facts.js';
import { isForeign } from '../interceptors.js';
import { recordOf } from '../order/decision.js';
import { close } from '../order/end.js';
import { clearAttention, raiseAttention, showTurn } from '../order/show.js';
import {
  answeredIn,
  doubtOfReset,
  doubtOfRestore,
  mayHaveSent as mayHaveBeenSent,
  type OrderRun,
  recordPayers,
} from '../order/state.js';
import { handOver } from '../outbox.js';
import {
  endSilence,
  raiseSilence,
  raiseSilent,
  raiseUnserved,
  type Schedule,
  turnText,
  unservedFor,
  untilTaken,
} from './silence.js';

const [FIRST_WAIT_MS, LONGEST_WAIT_MS] = [60_000, 3_600_000];

/** First wait after the answer of a foreign worker: the next task may reach one of ours. */
const FIRST_WAIT_FOREIGN_MS = 5_000;

interface Asking extends Pick<ActivityOptions, 'summary' | 'activityId' | 'startToCloseTimeout'> {
  /** Raises attention after 15 min without an answer. Costs a timer. */
  alarm?: boolean;
  /** Wait of the activity before it asks. */
  delayMs?: number;
  /** The activity checks the whole input; bad input ends the run. */
  checksInput?: boolean;
}

/**
 * Asks about an order by an activity that the server repeats without history. Raises attention if
 * no worker takes it, if it fails for good and, with `alarm`, if the service stays silent.
 */
export function ask<T>(
  run: OrderRun,
  { alarm, delayMs, checksInput, ...activity }: Asking,
  put: Schedule<T>,
): Promise<T> {
  const checked: Schedule<T> = (activities, late) => unlessInvalid(run, put(activities, late));
  const options = { ...readOnly(run.account), ...activity };
  const pending = untilAnswered(run, options, checksInput ? checked : put);
  return alarm ? withAlarm(run, pending, delayMs) : pending;
}

type OrderAnswer = Partial<Circumstances> &
  Pick<CreateAnswer, 'caps'> &
  Pick<LookUpAnswer, 'calledBack'> & { kind: string; said?: string; differences?: string[] };

/** Asks the account that the order was sent to, and waits for it if another one answers. */
export async function askForReading<T extends OrderAnswer>(
  run: OrderRun,
  { delayMs, alarm = false, ...plain }: Asking,
  put: (activities: Parameters<Schedule<T>>[0], more: AskMore) => Promise<T | ElsewhereAnswer>,
): Promise<T> {
  const waiting = delayMs ? { delayMs } : {};
  const first = await ask(run, { ...plain, ...waiting, alarm }, (activities) => put(activities, waiting));
  const again = (more: AskMore) => ask(run, plain, (activities) => put(activities, more));
  const answer = isElsewhere(first) ? await untilSameAccount(run, first, again) : first;
  recordAnswer(run, answer);
  run.lastLookUp.atMs = Date.now();
  endSilence(run);
  return answer;
}

export type Looking = Asking & Pick<LookUpInput, 'orderUuid' | 'sentUntilMs' | 'awaits' | 'forMs'>;

/** After a restore, Temporal has forgotten what other runs knew. */
const OF_OTHER_RUNS: ReadonlySet<Doubt['cause']> = new Set(['reset', 'earlierRun']);

/** Looks up the known order, `orderUuid`, or our id. */
export function lookUp(run: OrderRun, { orderUuid, sentUntilMs, awaits, forMs, ...question }: Looking) {
  const input = (): LookUpInput => ({
    type: run.type,
    account: run.account,
    request: run.request,
    orderUuid: orderUuid ?? run.order?.order_uuid,
    known: run.order && true,
    sentTo: run.sentTo,
    ...(sentUntilMs !== undefined && { sentUntilMs }),
    ...(awaits && { awaits }),
    ...(forMs !== undefined && { forMs }),
    ...(run.facts.everDoubted.some(({ cause }) => OF_OTHER_RUNS.has(cause)) && { asksOtherRuns: true }),
    ...(run.approved.amount && { approved: run.approved.amount }),
    ...(run.unconfirmedAtMs !== undefined && { unconfirmedAtMs: run.unconfirmedAtMs }),
  });
  return askForReading<LookUpAnswer>(run, question, ({ lookUpOrder }, more) => lookUpOrder({ ...input(), ...more }));
}

const SHOWN = ['accepted', 'adopted', 'found'];

/** Records the circumstances of an answer. A possible send or a found order pins the account. */
export function recordAnswer(run: OrderRun, answer: OrderAnswer, mayHaveSent = false): void {
  run.strictest = stricter(run.strictest, answer);
  const before = answeredIn(run);
  run.answeredIn = answer.runId ?? before;
  if (answer.restoredAtMs !== undefined && !run.order) {
    const costs = run.unconfirmedAtMs !== undefined && { costs: { isLimited: false } };
    record(run, { kind: 'doubted', doubt: doubtOfRestore(answer.restoredAtMs), ...costs });
  }
  // A callback counts as one, to whichever run it came.
  if (answer.calledBack && run.facts.callback === 'none') record(run, { kind: 'callback', atMs: Date.now() });
  const isOurs = SHOWN.includes(answer.kind) && !answer.differences?.length;
  // The run before the reset may have sent since, wherever, and whatever this run asked first.
  const isAfterReset = run.answeredIn !== before && !isOurs && !run.order;
  if (isAfterReset) record(run, { kind: 'doubted', doubt: doubtOfReset() });
  // A doubt is resolved on one account.
  const isDoubted = run.facts.doubt?.place === 'asked';
  // The last send is looked for at its own account, by its own witness.
  if (mayHaveSent) run.sentTo = answer.sentTo ?? run.sentTo;
  if (isOurs || isDoubted) run.sentTo ??= answer.sentTo;
  recordPayers(run, answer.payers);
  run.outbox.receivers = answer.receivers ?? run.outbox.receivers;
  void handOver(run.outbox);
  if (answer.kind === 'absent') run.lastLookUp.statusSaid = answer.said;
}

const BY_FOREIGNER = 'by something without the payload keys: find out who polls its task queue';

/** Repeats a failed question, ever more slowly: an open order must not end because of it. */
async function untilAnswered<T>(run: OrderRun, options: ActivityOptions, put: Schedule<T>): Promise<T> {
  let said: string | undefined;
  for (let waitMs: number | undefined; ; ) {
    try {
      const answer = await untilServed(run, options, put);
      clearAttention(run, said);
      return answer;
    } catch (error) {
      if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
      const ended = raiseEnded(run, error);
      said = ended.said;
      const nextMs = waitMs === undefined ? ended.firstWaitMs : 2 * waitMs || FIRST_WAIT_FOREIGN_MS;
      waitMs = Math.min(nextMs, LONGEST_WAIT_MS);
      if (waitMs > 0) await sleep(waitMs, { summary: `Before ${error.activityType} is repeated` });
    }
  }
}

function raiseEnded(run: OrderRun, error: ActivityFailure): { said?: string; firstWaitMs: number } {
  const refused = failureOf(error);
  if (refused?.type === KEY_REFUSED) {
    raiseSilent(run, { code: 'key-refused', said: refused.message });
    // The server repeats it without history.
    return { firstWaitMs: 0 };
  }
  const foreign = isForeign(error);
  const happened = foreign ? `was answered ${BY_FOREIGNER}` : 'failed for good';
  const said = `the activity ${error.activityType} ${happened}; it is asked again, once an hour at least`;
  raiseAttention(run, foreign ? 'foreign-answer' : 'read-failed', said);
  return { said, firstWaitMs: foreign ? FIRST_WAIT_FOREIGN_MS : FIRST_WAIT_MS };
}

/** Ends the run if the first activity refuses the input. */
async function unlessInvalid<T>(run: OrderRun, asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    const failure = failureOf(error);
    if (failure?.type !== 'InvalidOrder') throw error;
    close(run, 'InvalidOrder', failure.message, ...(failure.details ?? []));
  }
}

async function withAlarm<T>(run: OrderRun, pending: Promise<T>, delayMs = 0): Promise<T> {
  if (!(await answersWithin(pending, delayMs + ATTENTION_AFTER_MS, ALARM))) {
    await Promise.race([pending, raiseSilence(run, watch(pending))]);
  }
  const answer = await pending;
  endSilence(run);
  return answer;
}

/** Schedules an activity. After 15 min without a worker, shows its turn or raises attention. */
export function untilServed<T>(run: OrderRun, options: ActivityOptions, schedule: Schedule<T>): Promise<T> {
  return untilTaken(run.account, options, schedule, (turn) => {
    if (turn) {
      showTurn(run, turnText(run.account, turn));
      return () => showTurn(run);
    }
    return raiseUnserved(run, unserved(run));
  });
}

function unserved(run: OrderRun): string {
  const what = unservedFor(run.account);
  if (run.phase === 'creating' && !mayHaveBeenSent(run)) return `${what}. Nothing was sent`;
  return `${what}. The order may exist: never start it again under another id or account. Start a worker with the same key`;
}

interface AskMore {
  told?: string;
  delayMs?: number;
}

type Answered<T> = T | ElsewhereAnswer;

const isElsewhere = <T extends { kind: string }>(answer: Answered<T>): answer is ElsewhereAnswer =>
  answer.kind === 'elsewhere';

/** Waits between two questions to another account. */
const [FIRST_WAIT_ELSEWHERE_MS, LONGEST_WAIT_ELSEWHERE_MS] = [1_000, 15 * 60_000];

const nextWaitMs = (waitMs = 0): number => Math.min(2 * waitMs || FIRST_WAIT_ELSEWHERE_MS, LONGEST_WAIT_ELSEWHERE_MS);

/** Waits until the account is set back or an operator confirms it. */
async function untilSameAccount<T extends { kind: string }>(
  run: OrderRun,
  first: ElsewhereAnswer,
  ask: (more: AskMore) => Promise<Answered<T>>,
): Promise<T> {
  let answer: Answered<T> = first;
  // Waits longer each time, whoever asks: each change of account costs history.
  for (; isElsewhere(answer); run.elsewhereWaitMs = nextWaitMs(run.elsewhereWaitMs)) {
    const found: ElsewhereAnswer = answer;
    // A decision on the question before has been accepted, and holds.
    await condition(() => run.parked.decision === undefined);
    const shown = raiseOtherAccount(run, found);
    const more = { told: found.why, ...(run.elsewhereWaitMs && { delayMs: run.elsewhereWaitMs }) };
    const asking = new CancellationScope();
    const pending: Promise<Answered<T>> = asking.run(() => ask(more));
    const answered = watch(pending);
    // Other steps ask for decisions, too: this one takes those on its own question.
    const decided = () => run.attention === shown && run.parked.decision !== undefined;
    await condition(() => answered() || decided());
    const decision = decided() ? run.parked.decision : undefined;
    if (decision) {
      run.decisions.push(recordOf([], decision));
      delete run.parked.decision;
    }
    if (run.attention === shown) clearAttention(run, shown?.reason);
    if (answered() || !decision) {
      answer = await pending;
      continue;
    }
    asking.cancel();
    // The confirmed account must show the same witness, and is asked at once.
    const { witness } = run.sentTo ?? {};
    run.sentTo = { ...found.here, ...(witness && { witness }) };
    record(run, { kind: 'placeConfirmed' });
    answer = await ask({});
  }
  return answer;
}

/** Asks whether both accounts are the same. Replaces other attention: nothing can be read. */
function raiseOtherAccount(run: OrderRun, { why }: ElsewhereAnswer): Attention | undefined {
  run.attention = undefined;
  raiseAttention(run, 'other-account', why, ['approve']);
  return run.attention;
}
