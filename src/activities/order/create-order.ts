import { activityInfo, log } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { AuditNotWrittenError } from '../../audit/audit-record.js';
import { echoDifferences } from '../../contract/differences/echo.js';
import { describeFieldErrors } from '../../contract/failures.js';
import { isFormOfId } from '../../contract/names.js';
import {
  type Circumstances,
  type CreateAnswer,
  type CreateOrderInput,
  type CreateVerdict,
  visibleAfterMs,
} from '../../contract/order/activities.js';
import type { RunInput } from '../../contract/order/input-and-result.js';
import type { CreateRequest } from '../../contract/order/request.js';
import { isRefused, type Refused } from '../../contract/refused.js';
import type { Order } from '../../contract/service-objects.js';
import { NotSentError } from '../../payment-service/errors.js';
import { isOrderId } from '../../payment-service/queries.js';
import { PayloadDecryptionError } from '../../temporal.js';
import { validateOrderInput } from '../../validation/order-input.js';
import { payersOf } from '../../validation/rate-checks.js';
import { recordSend } from '../audit.js';
import { type Account, type ActivityDeps, accountOf } from '../deps.js';
import { invalidOrder } from '../failures.js';
import { isRepeated } from '../only-attempt.js';
import { type InForce, protectionsIn } from '../protections.js';
import { type Restored, toldAfterRestore, tooSoonAfterRestore } from './after-restore.js';
import {
  AttemptDeadline,
  AttemptTooOldError,
  confirmSend,
  meaningOf,
  notSentBecause,
  readSendTimes,
  type SendTimes,
  TooLateError,
  wireRequest,
} from './create-attempt.js';
import { aboveLimits, capsFor, capsOn, exceededCap, ratesFor, refuseBeyondLimits } from './limits.js';
import { probePatience } from './patience.js';
import { probe, probeFirst } from './probe.js';
import { staleBasis } from './read-outcome.js';
import { circumstancesOf, elsewhereOf, sentToOf } from './sent-to.js';

/**
 * One attempt to create an order: check → probe → send. It sends at most once and answers what is known afterwards; the
 * workflow decides what that means. Runs with `maximumAttempts: 1`. Fails only with InvalidOrder (nothing sent).
 */
export function createOrderActivity(deps: ActivityDeps) {
  return async function createOrder(attempt: CreateOrderInput): Promise<CreateAnswer> {
    const deadline = new AttemptDeadline();
    const account = accountOf(deps, attempt.account);
    // Whatever is thought of the input now, the attempt before this one may have sent it.
    if (isRepeated()) return leftOpen(deps, account, attempt);
    const { request, told, invalid } = checkedRequest(deps, account, attempt);
    const tooSoon = await tooSoonAfterRestore(deps, account, attempt.type);
    const refused = refuseElsewhere(account, attempt);
    const rates = await ratesFor(deps, account, attempt, request);
    // Once something may have been sent, limits no longer decide: InvalidOrder would say that no order exists.
    const notes = [...told];
    const isFirst = attempt.permission === 'first';
    const limit = async () => {
      if (invalid) throw invalid;
      if (isFirst) notes.push(...(await refuseBeyondLimits(deps, account, attempt.type, request, rates)));
    };
    // Of what may have been sent, unknown to this run, limits and checks decide only on what the probe does not find.
    const probesFirst = invalid !== undefined || isRestored(deps, account);
    if (!refused && !probesFirst) await limit();
    const sending: Sending = { deps, account, attempt, request, rates, deadline, tooSoon };
    if (probesFirst) sending.limit = limit;
    const verdict = toldAfterRestore(refused ?? (await probeThenSend(sending, invalid !== undefined)), tooSoon);
    if (notes.length > 0) log.warn('checks were passed over', { notes });
    const excerpt = verdict.kind === 'rejected' ? verdict.excerpt : undefined;
    log.info('create attempt ended', { verdict: verdict.kind, permission: attempt.permission, excerpt });
    return {
      ...verdict,
      ...circumstancesOf(deps, account, invalid ? undefined : payersOf(rates, attempt.type, request)),
      ...pinnedOf(sending, verdict),
      ...(tooSoon && { restoredAtMs: tooSoon.restoredAtMs }),
      // The next attempt may reach a worker that has none.
      ...(!('order' in verdict) && capsOn(attempt.type, request, capsFor(deps, account, attempt))),
      // Of the first run the workflow knows it.
      ...(attempt.firstExecutionRunId === runId() && { runId: undefined }),
      ...(notes.length > 0 && { notes }),
    };
  };
}

const isRestored = (deps: ActivityDeps, account: Account): boolean =>
  protectionsIn(deps, account).restoredAtMs !== undefined;

/** The attempt before this one may have sent, and may be sending still: only the workflow's readings can tell. */
function leftOpen(deps: ActivityDeps, account: Account, attempt: CreateOrderInput): CreateAnswer {
  const closed = sendGate(attempt);
  if (closed) return { ...closed, ...circumstancesOf(deps, account) };
  const left: Pinned | Refused | undefined = activityInfo().heartbeatDetails;
  // An answer would have to say where it was sent to: without one the workflow knows that nobody does.
  if (isRefused(left)) throw new PayloadDecryptionError(left.why, left.kind);
  const reason = 'the server repeated the create attempt';
  if (!left) throw ApplicationFailure.nonRetryable(`${reason}, and nothing says where the one before it sent to`);
  const { sentTo } = left;
  return { kind: 'uncertain', reason, timedOut: true, pace: protectionsIn(deps, account).pace, runId: runId(), sentTo };
}

/** The request of an attempt. `told`: what was found in it and is only told. `invalid`: it is refused, once nothing of it is there. */
interface Checked {
  request: CreateRequest;
  told: string[];
  invalid?: ApplicationFailure;
}

/**
 * Checks the request. Throws InvalidOrder, unless something may have been sent under checks that were less strict, which is looked
 * for first.
 */
function checkedRequest(deps: ActivityDeps, account: Account, attempt: CreateOrderInput): Checked {
  const { type, input, followUp = false } = attempt;
  const { formatChecks } = account;
  const checked = validateOrderInput(type, input, { followUp, formatChecks, started: true });
  // Without its basis nobody could tell whether a follow-up may still be sent.
  const lacksBasis = 'input' in checked && followUp && !checked.input.followUpOf;
  const errors = lacksBasis ? [{ field: 'followUpOf', reason: 'required' }] : 'errors' in checked && checked.errors;
  if ('input' in checked && !errors) {
    return { request: checked.input.order, told: (checked.notes ?? []).map((note) => describeFieldErrors([note])) };
  }
  const invalid = invalidOrder(errors || []);
  const request = Object(Object(input).order) as CreateRequest;
  const isUnsent = !isRestored(deps, account) && attempt.permission === 'first' && !sendGate(attempt);
  if (isUnsent || typeof request.order_id !== 'string' || !isOrderId(request.order_id)) throw invalid;
  return { request, told: [], invalid };
}

/** One attempt that may send, with its checked request. */
interface Sending {
  deps: ActivityDeps;
  account: Account;
  attempt: CreateOrderInput;
  request: CreateRequest;
  /** Read before the probe: nothing is waited for between its answer and the turn of the create. */
  rates: Awaited<ReturnType<Account['rates']['current']>>;
  deadline: AttemptDeadline;
  tooSoon: Restored | undefined;
  /** Throws where limits or checks refuse it; only where they decide after the probe. */
  limit?: () => Promise<unknown>;
  /** Where it was sent, once it may have been. */
  pinned?: Pinned;
}

async function probeThenSend(sending: Sending, isInvalid: boolean): Promise<CreateVerdict> {
  const { deps, account, attempt, request, deadline, tooSoon } = sending;
  let times: SendTimes;
  try {
    times = await readSendTimes(deps, attempt, request, deadline);
  } catch (error) {
    return notSentBecause("the server's clock could not be read", error);
  }
  // Where nothing is sent whatever it says, it is not read: what is absent so soon after a restore says nothing.
  const stale = tooSoon || isInvalid ? undefined : await refuseStale(account, attempt);
  if (stale && stale.kind !== 'stale') return stale;
  const place = account.limiter.place({
    priority: activityInfo().priority?.priorityKey,
    signal: AbortSignal.timeout(Math.max(0, Math.floor(deadline.leftToWaitMs()))),
  });
  try {
    for (;;) {
      // If something may have been sent, this order is probed at once and alone.
      const heldUp = attempt.permission === 'first' && (await place.near());
      const refused = await refusedByProbe(sending, { stale, heldUp, times });
      if (refused) return refused;
      if (await place.take(freshUntilMs(account))) break;
    }
  } catch (error) {
    // What limits refuse ends the order.
    if (error instanceof ApplicationFailure) throw error;
    return notSentBecause('the limit left no turn for the create', error);
  } finally {
    place.leave();
  }
  return send(sending, times);
}

/** A probe may be this old when the turn of its create comes. */
const PROBE_FRESH_MS = 2_000;

/** Under a limit of less than one request a second the turn after the probe's own comes later. */
const freshUntilMs = ({ limiter }: Account): number =>
  performance.now() + Math.max(PROBE_FRESH_MS, 3 * limiter.intervalMs);

/** Why nothing may be sent, by a probe made now; undefined = the create may go. */
async function refusedByProbe(
  sending: Sending,
  { stale, heldUp, times }: { stale: CreateVerdict | undefined; heldUp: boolean; times: SendTimes },
): Promise<CreateVerdict | undefined> {
  const { deps, account, attempt, request, rates, limit, tooSoon } = sending;
  let seen: Awaited<ReturnType<typeof probe>>;
  try {
    seen = await probeBefore(account, attempt, request, heldUp);
  } catch (error) {
    // A look-up that failed proves nothing, so nothing is sent.
    return notSentBecause('the probe before the create failed', error);
  }
  if (seen.kind === 'duplicates') return seen;
  if (seen.kind === 'found') {
    const { kind: _, differences, ...ours } = seen;
    // Also where it is only shown in another form: our id is of this one payment, so that whoever sent it, this is it.
    if (differences.length === 0)
      return {
        kind: 'adopted',
        ...ours,
        ...aboveLimits(capsFor(deps, account, attempt), { ...attempt, request }, seen.order),
      };
    return { kind: 'conflict', order: seen.order, differences };
  }
  // What was proven or permitted earlier never replaces the probe just made.
  const refused = sendGate(attempt) ?? (tooSoon && notSent(tooSoon.reason)) ?? (await times.tooLate());
  if (refused) return refused;
  // Not before the probe: what was sent already is followed, whatever became of its order.
  if (stale) return stale;
  await limit?.();
  const cap = exceededCap(capsFor(deps, account, attempt), attempt.type, request, rates, attempt.approved);
  // The service gave rates a short time ago: no operator is needed for one failed read.
  if (cap && !rates && cap.amount === undefined && (await account.rates.current())) {
    return notSent('the rates that a cap depends on could not be read again');
  }
  return cap && { kind: 'overCap', ...cap };
}

/** Only where nothing was sent before may the answer to a group of probes say so. */
const probeBefore = (account: Account, attempt: CreateOrderInput, request: CreateRequest, heldUp: boolean) =>
  attempt.permission === 'first' && !sendGate(attempt)
    ? probeFirst(account, attempt.type, request, probePatience(account, heldUp))
    : probe(account.service, attempt.type, request);

/**
 * THE gate before every send, the last line of defence behind the workflow's decision (`next-action.ts`): only an activity knows
 * in which run it is. Returns why nothing may be sent; undefined = it is open.
 */
function sendGate({ permission, firstExecutionRunId, provenIn }: CreateOrderInput): CreateVerdict | undefined {
  if (permission === 'none') return { kind: 'uncertain', reason: 'an earlier create is not proven absent' };
  const permittedIn = permission === 'first' ? firstExecutionRunId : (provenIn ?? runId());
  if (permittedIn === runId()) return undefined;
  // The run that this one was cut from by a reset may have a create on its way that no probe shows yet.
  return { kind: 'uncertain', reason: 'the workflow was reset', reset: true };
}

/** A follow-up that may be sent now is sent only while what it was made for still holds. */
async function refuseStale(account: Account, attempt: CreateOrderInput): Promise<CreateVerdict | undefined> {
  if (!attempt.followUp || sendGate(attempt)) return undefined;
  const { order, followUpOf = [] } = attempt.input as RunInput;
  return staleBasis(account, followUpOf, order.order_id);
}

/** What came to an order needs no proof that there is none. */
const pinnedOf = ({ pinned }: Sending, { kind }: CreateVerdict): Pinned | undefined =>
  kind === 'accepted' || kind === 'adopted' ? undefined : pinned;

/** What is written before a send, and answered after it. */
type Pinned = Pick<Circumstances, 'sentTo'>;

function whereSent(account: Account, untilMs: number, orderId: string): Pinned {
  const witness = account.lookUps.witnesses.youngest(untilMs, orderId);
  return { sentTo: { ...sentToOf(account), ...(witness && { witness }) } };
}

const runId = (): string | undefined => activityInfo().workflowExecution?.runId;

/** Refuses to send an order that may have been sent, unless to its account or that account's successor. */
function refuseElsewhere(account: Account, { sentTo }: CreateOrderInput): CreateVerdict | undefined {
  const found = elsewhereOf(account, sentTo);
  return found && notSent(found.why);
}

const notSent = (reason: string): CreateVerdict => ({ kind: 'notSent', reason });

async function send(sending: Sending, times: SendTimes): Promise<CreateVerdict> {
  const { deps, account, attempt, request, deadline } = sending;
  const sentAtMs = await (deps.nowMs ?? Date.now)();
  const witnessedMs = sentAtMs - visibleAfterMs(protectionsIn(deps, account).pace, attempt.type);
  const pinned = whereSent(account, witnessedMs, request.order_id);
  try {
    const wire = wireRequest(deps, attempt, request, times.delayMinutes());
    const order = await account.service.createOrder(attempt.type, wire, {
      turn: 'taken',
      beforeSend: async () => {
        // First, since a slow disk must not make the attempt older than what is confirmed next.
        await recordSend(deps, attempt, request);
        await confirmSend(deps, deadline, pinned, times);
        sending.pinned = pinned;
        // Temporal failed over since the attempt began: the probe before this send proves nothing.
        if (await tooSoonAfterRestore(deps, account, attempt.type)) throw new AttemptTooOldError();
      },
    });
    const verdict = verdictOfAnswer(attempt, request, order);
    if (verdict.kind !== 'accepted') return verdict;
    account.lookUps.noteCreated(order, sentAtMs);
    return { ...verdict, ...aboveLimits(capsFor(deps, account, attempt), { ...attempt, request }, order) };
  } catch (error) {
    const verdict = verdictOfError(error, protectionsIn(deps, account));
    if (verdict.kind === 'uncertain') account.lookUps.witnesses.noteUnclear(request.order_id);
    return verdict;
  }
}

function verdictOfError(error: unknown, inForce: InForce): CreateVerdict {
  if (error instanceof TooLateError) return error.verdict;
  const meaning = meaningOf(error, inForce);
  switch (meaning.kind) {
    case 'notSent':
      return notSent(whyNotSent(error));
    case 'notExecuted':
      return notSentBecause('the service executes nothing that it answers so', error);
    default:
      return meaning;
  }
}

function whyNotSent(error: unknown): string {
  if (error instanceof NotSentError) return `no connection (${error.reason})`;
  return error instanceof AuditNotWrittenError ? error.message : 'the attempt was given up before it could send';
}

/** A 200 counts only when it carries our order; a foreign or crossed answer says nothing about ours. */
function verdictOfAnswer({ type }: CreateOrderInput, request: CreateRequest, order: Order): CreateVerdict {
  const { hard, soft } = echoDifferences(type, request, order);
  if (hard.length === 0) return { kind: 'accepted', order, ...(soft.length > 0 && { soft }) };
  const reason = `the create was answered with another order (${hard.join(', ')})`;
  const isOurs = hard.join() === 'order_id' && isFormOfId(order.user_order_id, request.order_id);
  return { kind: 'uncertain', reason, ...(isOurs && { underOtherId: order }) };
}
