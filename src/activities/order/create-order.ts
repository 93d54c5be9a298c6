import { activityInfo, log } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { describeFieldErrors } from '../../contract/failures.js';
import {
  type Circumstances,
  type CreateAnswer,
  type CreateOrderInput,
  type CreateVerdict,
  maySend,
  type StoredByAttempt,
  visibleAfterMs,
} from '../../contract/order/activities.js';
import type { RunInput } from '../../contract/order/input-and-result.js';
import type { CreateRequest } from '../../contract/order/request.js';
import { isRefused, type Refused } from '../../contract/refused.js';
import { isOrderId } from '../../payment-service/queries.js';
import { PayloadDecryptionError } from '../../temporal.js';
import { validateOrderInput } from '../../validation/order-input.js';
import { payersOf } from '../../validation/rate-checks.js';
import { recordSend } from '../audit.js';
import { type Account, type ActivityDeps, accountOf } from '../deps.js';
import { invalidOrder } from '../failures.js';
import { isRepeated } from '../only-attempt.js';
import { countAdopted, noteEarlier, policyAnswers } from '../policy/ask.js';
import { protectionsIn, type Restored, tooSoonAfterRestore } from '../protections.js';
import { stopped, stopsOf } from '../stops.js';
import {
  AttemptDeadline,
  confirmSend,
  GivenUpError,
  noteUnsent,
  notSent,
  notSentBecause,
  readSendTimes,
  type SendTimes,
  verdictOfAnswer,
  verdictOfError,
  wireRequest,
} from './create-attempt.js';
import { freshUntilMs, probePatience } from './gathering.js';
import { aboveLimits, capsFor, capsOn, readTerms, refusedByLimits, type Terms } from './limits.js';
import { probe, probeFirst } from './probe.js';
import { staleBasis } from './read-outcome.js';
import { circumstancesOf, elsewhereOf, sentToOf } from './sent-to.js';

/**
 * Runs one attempt to create an order: check, probe, send, at most once (`maximumAttempts: 1`).
 * Fails only with InvalidOrder, when nothing was sent.
 */
export function createOrderActivity(deps: ActivityDeps) {
  return async function createOrder(attempt: CreateOrderInput): Promise<CreateAnswer> {
    const deadline = new AttemptDeadline();
    const account = accountOf(deps, attempt.account);
    // The previous attempt may have sent it, even if the input is invalid now.
    if (isRepeated()) return leftOpen(deps, account, attempt);
    const unsent = noteUnsent(deps);
    const checked = checkedRequest(deps, account, attempt);
    const { request, invalid } = checked;
    const tooSoon = await tooSoonAfterRestore(deps, account, attempt.type);
    // Read before the probe, so that nothing delays the create after the probe's answer.
    const terms = await readTerms(deps, account, attempt, request);
    const sending: Sending = { deps, account, attempt, ...checked, terms, deadline, unsent, tooSoon };
    const elsewhere = elsewhereOf(account, attempt.sentTo);
    const verdict = elsewhere ? notSent(elsewhere.why) : await probeThenSend(sending);
    await unsent.end().catch(() => undefined);
    const { notes, pinned } = sending;
    // An older attempt could time out.
    if (deadline.allowsSend()) await noteEarlier(sending, verdict);
    if (notes.size > 0) log.warn('checks were passed over', { notes: [...notes] });
    const excerpt = verdict.kind === 'rejected' ? verdict.excerpt : undefined;
    log.info('create attempt ended', { verdict: verdict.kind, permission: attempt.permission, excerpt });
    const isOurs = verdict.kind === 'accepted' || verdict.kind === 'adopted';
    return {
      ...verdict,
      ...circumstancesOf(deps, account, invalid ? undefined : payersOf(terms.rates, attempt.type, request)),
      // An order that exists needs no proof of absence.
      ...(!isOurs && pinned),
      ...(tooSoon && { restoredAtMs: tooSoon.restoredAtMs }),
      // The next attempt may reach a worker without caps.
      ...(!('order' in verdict) && capsOn(attempt.type, request, capsFor(deps, account, attempt))),
      // In the first run, the workflow knows it.
      ...(attempt.firstExecutionRunId === runId() && { runId: undefined }),
      ...(notes.size > 0 && { notes: [...notes] }),
    };
  };
}

/** Returns the verdict of a repeated attempt: the previous one may have sent, or still send. */
function leftOpen(deps: ActivityDeps, account: Account, attempt: CreateOrderInput): CreateAnswer {
  const closed = sendGate(attempt);
  if (closed) return { ...closed, ...circumstancesOf(deps, account) };
  const left: StoredByAttempt | Refused | undefined = activityInfo().heartbeatDetails;
  // The account must be known. Without it, the workflow treats the account as unknown.
  if (isRefused(left)) throw new PayloadDecryptionError(left.why, left.kind);
  const reason = 'the server repeated the create attempt';
  if (!left || 'unsent' in left)
    throw ApplicationFailure.nonRetryable(`${reason}, and nothing says where the one before it sent to`);
  const { sentTo } = left;
  return { kind: 'uncertain', reason, timedOut: true, pace: protectionsIn(deps, account).pace, runId: runId(), sentTo };
}

/** Request with `notes` on checks. `invalid`: refused unless the probe finds its order. */
interface Checked {
  request: CreateRequest;
  notes: Set<string>;
  invalid?: ApplicationFailure;
}

/** Checks the request. Throws InvalidOrder, unless looser checks may have let it be sent. */
function checkedRequest(deps: ActivityDeps, account: Account, attempt: CreateOrderInput): Checked {
  const { type, input, followUp = false } = attempt;
  const { formatChecks } = account;
  const checked = validateOrderInput(type, input, { followUp, formatChecks, started: true });
  // Without its preconditions, nobody could tell whether a follow-up may still be sent.
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

/** Attempt that may send, with its checked request. */
interface Sending extends Checked {
  deps: ActivityDeps;
  account: Account;
  attempt: CreateOrderInput;
  terms: Terms;
  deadline: AttemptDeadline;
  unsent: ReturnType<typeof noteUnsent>;
  tooSoon: Restored | undefined;
  /** Account of the send, once it may have happened. */
  pinned?: Pinned;
}

async function probeThenSend(sending: Sending): Promise<CreateVerdict> {
  const { deps, account, attempt, request, invalid, deadline, tooSoon } = sending;
  const whyStopped = async () => (sendGate(attempt) ? undefined : stopsOf(deps, account).stillWhy());
  const before = await whyStopped();
  if (before) return stopped(before);
  let times: SendTimes;
  try {
    times = await readSendTimes(deps, attempt, request, deadline);
  } catch (error) {
    return notSentBecause("the server's clock could not be read", error);
  }
  // Not read if nothing will be sent: absence so soon after a restore proves nothing.
  const closed = tooSoon ?? invalid ?? sendGate(attempt);
  const policy = await policyAnswers(sending, closed);
  const place = account.limiter.place({
    priority: activityInfo().priority?.priorityKey,
    signal: AbortSignal.timeout(Math.max(0, Math.floor(deadline.leftToWaitMs()))),
  });
  try {
    for (;;) {
      // If something may have been sent, this order is probed at once and alone.
      const heldUp = attempt.permission === 'first' && (await place.near());
      const since = heldUp ? await whyStopped() : undefined;
      if (since) return stopped(since);
      const blocked = await policy();
      const stale = await refuseStale(account, attempt, closed);
      if (stale && stale.kind !== 'stale') return stale;
      const refused = await refusedByProbe(sending, { stale, heldUp, times, blocked });
      if (refused) return refused;
      if (await place.take(freshUntilMs(account))) break;
    }
  } catch (error) {
    // A refusal by limits ends the order.
    if (error instanceof ApplicationFailure) throw error;
    return notSentBecause('the limit left no turn for the create', error);
  } finally {
    place.leave();
  }
  return send(sending, times);
}

type Verdict = CreateVerdict | undefined;

/** Probes and returns why nothing may be sent; undefined if the create may be sent. */
async function refusedByProbe(
  sending: Sending,
  { stale, heldUp, times, blocked }: Record<'stale' | 'blocked', Verdict> & { heldUp: boolean; times: SendTimes },
): Promise<Verdict> {
  const { deps, account, attempt, request, invalid, tooSoon } = sending;
  let seen: Awaited<ReturnType<typeof probe>>;
  try {
    seen = await probeBefore(account, attempt, request, heldUp);
  } catch (error) {
    // A failed look-up proves nothing, so nothing is sent.
    return notSentBecause('the probe before the create failed', error);
  }
  if (seen.kind === 'duplicates') return seen;
  if (seen.kind === 'found') {
    const { kind: _, differences, ...ours } = seen;
    // An order under another form of our id is ours, too, because the id means one payment.
    if (differences.length > 0) return { kind: 'conflict', order: seen.order, differences };
    try {
      if (blocked) await countAdopted(deps, account, attempt.type, request);
    } catch (error) {
      return notSentBecause('the policy could not count an order that exists', error);
    }
    return {
      kind: 'adopted',
      ...ours,
      ...aboveLimits(capsFor(deps, account, attempt), { ...attempt, request }, seen.order),
    };
  }
  // Earlier proofs or permissions never replace the probe just made.
  const refused = sendGate(attempt) ?? (tooSoon && notSent(tooSoon.reason)) ?? (await times.tooLate());
  if (refused) return refused;
  // Checked after the probe, because an order that was sent before is followed in any case.
  if (stale) return stale;
  if (invalid) throw invalid;
  return refusedByLimits(sending, blocked);
}

/** Returns a probe. Only if nothing was sent before may a group's answer serve. */
const probeBefore = (account: Account, attempt: CreateOrderInput, request: CreateRequest, heldUp: boolean) =>
  attempt.permission === 'first' && !sendGate(attempt)
    ? probeFirst(account, attempt.type, request, probePatience(account, heldUp))
    : probe(account.service, attempt.type, request);

/** Returns why nothing may be sent, after the workflow's decision in `next-action.ts`. */
function sendGate(attempt: CreateOrderInput): CreateVerdict | undefined {
  if (attempt.permission === 'none') return { kind: 'uncertain', reason: 'an earlier create is not proven absent' };
  if (maySend(attempt, runId())) return undefined;
  // The run before the reset may have a create in flight that no probe shows yet.
  return { kind: 'uncertain', reason: 'the workflow was reset', reset: true };
}

/** Throws unless a follow-up's preconditions still hold. */
async function refuseStale(account: Account, attempt: CreateOrderInput, closed: unknown): Promise<Verdict> {
  if (!attempt.followUp || closed) return undefined;
  const { order, followUpOf = [] } = attempt.input as RunInput;
  return staleBasis(account, followUpOf, order.order_id);
}

/** Stored before a send and returned after it. */
type Pinned = Pick<Circumstances, 'sentTo'>;

const runId = (): string | undefined => activityInfo().workflowExecution?.runId;

async function send(sending: Sending, times: SendTimes): Promise<CreateVerdict> {
  const { deps, account, attempt, request, deadline, unsent } = sending;
  const { witnesses } = account.lookUps;
  const sentAtMs = await (deps.nowMs ?? Date.now)();
  const monotonicMs = performance.now();
  const witnessedMs = sentAtMs - visibleAfterMs(protectionsIn(deps, account).pace, attempt.type);
  const witness = witnesses.youngest(witnessedMs, request.order_id);
  const pinned = { sentTo: { ...sentToOf(account), ...(witness && { witness }) } };
  try {
    const wire = wireRequest(deps, attempt, request, times.delayMinutes());
    const order = await account.service.createOrder(attempt.type, wire, {
      turn: 'taken',
      beforeSend: async () => {
        // First, so that a slow disk does not age the confirmed attempt.
        await recordSend(deps, attempt, request);
        await unsent.end();
        await confirmSend(deps, account, deadline, pinned, times);
        sending.pinned = pinned;
        // Temporal failed over after the attempt began, so the probe proves nothing.
        if (await tooSoonAfterRestore(deps, account, attempt.type)) throw new GivenUpError();
      },
    });
    const verdict = verdictOfAnswer(attempt, request, order);
    if (verdict.kind !== 'accepted') return verdict;
    account.lookUps.noteCreated(order, sentAtMs, monotonicMs);
    return { ...verdict, sentAtMs, ...aboveLimits(capsFor(deps, account, attempt), { ...attempt, request }, order) };
  } catch (error) {
    const verdict = verdictOfError(error, protectionsIn(deps, account));
    if (verdict.kind === 'uncertain') witnesses.noteUnclear(request.order_id, attempt);
    return verdict;
  }
}
