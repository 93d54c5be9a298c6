import { activityInfo, log } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
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
import { isOrderId } from '../../payment-service/queries.js';
import { PayloadDecryptionError } from '../../temporal.js';
import { validateOrderInput } from '../../validation/order-input.js';
import { payersOf } from '../../validation/rate-checks.js';
import { recordSend } from '../audit.js';
import { type Account, type ActivityDeps, accountOf } from '../deps.js';
import { invalidOrder } from '../failures.js';
import { isRepeated } from '../only-attempt.js';
import { protectionsIn, type Restored, tooSoonAfterRestore } from '../protections.js';
import {
  AttemptDeadline,
  confirmSend,
  GivenUpError,
  notSent,
  notSentBecause,
  readSendTimes,
  type SendTimes,
  verdictOfError,
  wireRequest,
} from './create-attempt.js';
import { aboveLimits, capsFor, capsOn, exceededCap, readTerms, refuseBeyondLimits, type Terms } from './limits.js';
import { probePatience } from './patience.js';
import { probe, probeFirst } from './probe.js';
import { staleBasis } from './read-outcome.js';
import { circumstancesOf, elsewhereOf, sentToOf } from './sent-to.js';

/**
 * One attempt to create an order: check → probe → send, at most once (`maximumAttempts: 1`).
 * Fails only with InvalidOrder (nothing sent).
 */
export function createOrderActivity(deps: ActivityDeps) {
  return async function createOrder(attempt: CreateOrderInput): Promise<CreateAnswer> {
    const deadline = new AttemptDeadline();
    const account = accountOf(deps, attempt.account);
    // Whatever is thought of the input now, the attempt before this one may have sent it.
    if (isRepeated()) return leftOpen(deps, account, attempt);
    const checked = checkedRequest(deps, account, attempt);
    const { request, invalid } = checked;
    const tooSoon = await tooSoonAfterRestore(deps, account, attempt.type);
    // Read before the probe: nothing is waited for between its answer and the turn of the create.
    const terms = await readTerms(deps, account, attempt, request);
    const sending: Sending = { deps, account, attempt, ...checked, terms, deadline, tooSoon };
    const elsewhere = elsewhereOf(account, attempt.sentTo);
    const verdict = elsewhere ? notSent(elsewhere.why) : await probeThenSend(sending);
    const { notes, pinned } = sending;
    if (notes.size > 0) log.warn('checks were passed over', { notes: [...notes] });
    const excerpt = verdict.kind === 'rejected' ? verdict.excerpt : undefined;
    log.info('create attempt ended', { verdict: verdict.kind, permission: attempt.permission, excerpt });
    const isOurs = verdict.kind === 'accepted' || verdict.kind === 'adopted';
    return {
      ...verdict,
      ...circumstancesOf(deps, account, invalid ? undefined : payersOf(terms.rates, attempt.type, request)),
      // An order that exists needs no proof that there is none.
      ...(!isOurs && pinned),
      ...(tooSoon && { restoredAtMs: tooSoon.restoredAtMs }),
      // The next attempt may reach a worker that has none.
      ...(!('order' in verdict) && capsOn(attempt.type, request, capsFor(deps, account, attempt))),
      // Of the first run the workflow knows it.
      ...(attempt.firstExecutionRunId === runId() && { runId: undefined }),
      ...(notes.size > 0 && { notes: [...notes] }),
    };
  };
}

/** The attempt before this one may have sent, and may be sending still: only the workflow's readings can tell. */
function leftOpen(deps: ActivityDeps, account: Account, attempt: CreateOrderInput): CreateAnswer {
  const closed = sendGate(attempt);
  if (closed) return { ...closed, ...circumstancesOf(deps, account) };
  const left: Pinned | Refused | undefined = activityInfo().heartbeatDetails;
  // An answer must say where it was sent. Without one, the workflow treats the account as unknown.
  if (isRefused(left)) throw new PayloadDecryptionError(left.why, left.kind);
  const reason = 'the server repeated the create attempt';
  if (!left) throw ApplicationFailure.nonRetryable(`${reason}, and nothing says where the one before it sent to`);
  const { sentTo } = left;
  return { kind: 'uncertain', reason, timedOut: true, pace: protectionsIn(deps, account).pace, runId: runId(), sentTo };
}

/** A request with `notes` on passed checks. `invalid`: it is refused, unless the probe finds its order. */
interface Checked {
  request: CreateRequest;
  notes: Set<string>;
  invalid?: ApplicationFailure;
}

/** Checks the request. Throws InvalidOrder, unless less strict checks may have let it be sent before. */
function checkedRequest(deps: ActivityDeps, account: Account, attempt: CreateOrderInput): Checked {
  const { type, input, followUp = false } = attempt;
  const { formatChecks } = account;
  const checked = validateOrderInput(type, input, { followUp, formatChecks, started: true });
  // Without its basis nobody could tell whether a follow-up may still be sent.
  const lacksBasis = 'input' in checked && followUp && !checked.input.followUpOf;
  const errors = lacksBasis ? [{ field: 'followUpOf', reason: 'required' }] : 'errors' in checked && checked.errors;
  if ('input' in checked && !errors) {
    const notes = (checked.notes ?? []).map((note) => describeFieldErrors([note]));
    return { request: checked.input.order, notes: new Set(notes) };
  }
  const invalid = invalidOrder(errors || []);
  const request = Object(Object(input).order) as CreateRequest;
  const isRestored = protectionsIn(deps, account).restoredAtMs !== undefined;
  const isUnsent = !isRestored && attempt.permission === 'first' && !sendGate(attempt);
  if (isUnsent || typeof request.order_id !== 'string' || !isOrderId(request.order_id)) throw invalid;
  return { request, notes: new Set(), invalid };
}

/** One attempt that may send, with its checked request. */
interface Sending extends Checked {
  deps: ActivityDeps;
  account: Account;
  attempt: CreateOrderInput;
  terms: Terms;
  deadline: AttemptDeadline;
  tooSoon: Restored | undefined;
  /** Where it was sent, once it may have been. */
  pinned?: Pinned;
}

async function probeThenSend(sending: Sending): Promise<CreateVerdict> {
  const { deps, account, attempt, request, invalid, deadline, tooSoon } = sending;
  let times: SendTimes;
  try {
    times = await readSendTimes(deps, attempt, request, deadline);
  } catch (error) {
    return notSentBecause("the server's clock could not be read", error);
  }
  // Not read if nothing is sent anyway: what is absent so soon after a restore says nothing.
  const stale = tooSoon || invalid ? undefined : await refuseStale(account, attempt);
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
  const { deps, account, attempt, request, invalid, notes, terms, tooSoon } = sending;
  const caps = capsFor(deps, account, attempt);
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
    // An order in another form is ours, too: our id is of this one payment, whoever sent it.
    if (differences.length > 0) return { kind: 'conflict', order: seen.order, differences };
    return { kind: 'adopted', ...ours, ...aboveLimits(caps, { ...attempt, request }, seen.order) };
  }
  // What was proven or permitted earlier never replaces the probe just made.
  const refused = sendGate(attempt) ?? (tooSoon && notSent(tooSoon.reason)) ?? (await times.tooLate());
  if (refused) return refused;
  // After the probe, since an order that was sent before is followed whatever is thought of it now.
  if (stale) return stale;
  if (invalid) throw invalid;
  // InvalidOrder says that no order exists, so that limits decide on first sends alone.
  if (attempt.permission === 'first') {
    for (const note of refuseBeyondLimits(account, attempt.type, request, terms)) notes.add(note);
  }
  const cap = exceededCap(caps, attempt.type, request, terms.rates, attempt.approved);
  // The service gave rates a short time ago: no operator is needed for one failed read.
  if (cap && !terms.rates && cap.amount === undefined && (await account.rates.current())) {
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
 * THE gate before every send, behind the workflow's decision (`next-action.ts`): only an activity
 * knows its run. Returns why nothing may be sent; undefined = it is open.
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

/** What is written before a send, and answered after it. */
type Pinned = Pick<Circumstances, 'sentTo'>;

const runId = (): string | undefined => activityInfo().workflowExecution?.runId;

async function send(sending: Sending, times: SendTimes): Promise<CreateVerdict> {
  const { deps, account, attempt, request, deadline } = sending;
  const { witnesses } = account.lookUps;
  const sentAtMs = await (deps.nowMs ?? Date.now)();
  const witnessedMs = sentAtMs - visibleAfterMs(protectionsIn(deps, account).pace, attempt.type);
  const witness = witnesses.youngest(witnessedMs, request.order_id);
  const pinned = { sentTo: { ...sentToOf(account), ...(witness && { witness }) } };
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
        if (await tooSoonAfterRestore(deps, account, attempt.type)) throw new GivenUpError();
      },
    });
    const verdict = verdictOfAnswer(attempt, request, order);
    if (verdict.kind !== 'accepted') return verdict;
    account.lookUps.noteCreated(order, sentAtMs);
    return { ...verdict, ...aboveLimits(capsFor(deps, account, attempt), { ...attempt, request }, order) };
  } catch (error) {
    const verdict = verdictOfError(error, protectionsIn(deps, account));
    if (verdict.kind === 'uncertain') witnesses.noteUnclear(request.order_id);
    return verdict;
  }
}

/** A 200 counts only when it carries our order; a foreign or crossed answer says nothing about ours. */
function verdictOfAnswer({ type }: CreateOrderInput, request: CreateRequest, order: Order): CreateVerdict {
  const { hard, soft } = echoDifferences(type, request, order);
  if (hard.length === 0) return { kind: 'accepted', order, ...(soft.length > 0 && { soft }) };
  const reason = `the create was answered with another order (${hard.join(', ')})`;
  const isOurs = hard.join() === 'order_id' && isFormOfId(order.user_order_id, request.order_id);
  return { kind: 'uncertain', reason, ...(isOurs && { underOtherId: order }) };
}
