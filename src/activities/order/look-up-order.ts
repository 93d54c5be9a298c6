import { activityInfo } from '@temporalio/activity';
import { hasFormOf, isFormOfId } from '../../contract/names.js';
import {
  type ElsewhereAnswer,
  type LookUpAnswer,
  type LookUpInput,
  type LookUpReading,
  OUTAGE_WINDOWS,
  type Pace,
  windowOf,
} from '../../contract/order/activities.js';
import type { LookUpRecoveredInput } from '../../contract/order/followers.js';
import type { Witness } from '../../contract/order/sent-to.js';
import { factsOf } from '../../contract/order/types.js';
import { validateRecoveredInput } from '../../validation/order-input.js';
import { payersOf } from '../../validation/rate-checks.js';
import { type Account, type ActivityDeps, accountOf } from '../deps.js';
import { comeBackIn, invalidOrder, noReading, retryOrTell } from '../failures.js';
import { countAdopted } from '../policy/ask.js';
import { protectionsIn, tooSoonAfterRestore } from '../protections.js';
import { patience } from './gathering.js';
import { letSomebodyGoFirst, untilAskedAgainMs } from './go-first.js';
import { aboveLimits, capsFor } from './limits.js';
import { ordersOfOtherRuns } from './other-runs.js';
import { foundOrder, readByOrderId, withoutChanges } from './probe.js';
import { circumstancesOf, elsewhereOf, failedElsewhere, isOtherEndpoint, otherAtCreate } from './sent-to.js';
import type { LaterWitness } from './witnesses.js';

/** Makes one signed look-up. The server repeats everything but a clear reading, without history. */
export function lookUpOrderActivity(deps: ActivityDeps) {
  return async function lookUpOrder(asked: LookUpInput): Promise<LookUpAnswer | ElsewhereAnswer> {
    if (asked.delayMs && activityInfo().attempt === 1) throw comeBackIn(asked.delayMs, 'waiting before the look-up');
    const account = accountOf(deps, asked.account);
    const input = await placed(deps, account, asked);
    const now = deps.nowMs ?? Date.now;
    const { pace } = protectionsIn(deps, account);
    const later = laterWitnesses(account, input, await now(), windowOf(pace, input.type));
    const isAwaiting = input.awaits && (await awaitsAccepted(account, input, later, pace));
    try {
      const tooSoon = await tooSoonAfterRestore(deps, account, input.type);
      const reading = await read(account, input, later, pace);
      if (isAwaiting && !isAwaited(reading, input, later))
        throw comeBackIn(untilAskedAgainMs(account, 'reading', pace), NONE_LATER);
      if (reading.kind === 'elsewhere') return reading;
      await countNew(deps, account, { ...input, tooSoon }, reading);
      const readAtMs = await now();
      // Payers matter only if something may be left of the order.
      const payers = await payersNow(account, input, reading);
      if (input.known && input.sentTo) return { ...reading, readAtMs, ...(payers && { payers }) };
      const { restoredAtMs = 0 } = protectionsIn(deps, account);
      const restored = (tooSoon || restoredAtMs > lostFromMs(input)) && { restoredAtMs };
      const answer = { ...reading, ...limitsOfOurs(capsFor(deps, account, {}), input, reading), readAtMs };
      return { ...answer, ...circumstancesOf(deps, account, payers), ...restored };
    } catch (error) {
      throw retryOrTell(error, account);
    }
  };
}

/** Adds the account of a create that no answer names, if it is another one. */
async function placed(deps: ActivityDeps, account: Account, input: LookUpInput): Promise<LookUpInput> {
  if (input.sentTo || input.orderUuid || (input.sentUntilMs ?? input.unconfirmedAtMs) === undefined) return input;
  const sentTo = await otherAtCreate(deps, account);
  return { ...input, ...(sentTo && { sentTo }) };
}

/**
 * Lets somebody go first while no later order is known that proves anything. Throws if a reading is
 * useless now; returns false if it is to be answered, whatever it shows.
 */
async function awaitsAccepted(
  account: Account,
  {
    sentUntilMs: fromMs = 0,
    type,
    request: { order_id: orderId },
    sentTo,
    told,
    awaits,
    forMs = Number.POSITIVE_INFINITY,
  }: LookUpInput,
  later: readonly LaterWitness[],
  pace: Pace,
): Promise<boolean> {
  // Another account, and the return of the right one, are answered at once.
  if (told !== undefined || elsewhereOf(account, sentTo)) return false;
  const isKnown = later.some((one) => one.proves && hasFormOf(one.order_id, orderId));
  const isNew = !isKnown && (await letSomebodyGoFirst(account, { orderId, type, fromMs }, pace));
  const { scheduledTimestampMs, currentAttemptScheduledTimestampMs } = activityInfo();
  // A worker that was killed only delays it: the next one looks for later orders first.
  const isOver = currentAttemptScheduledTimestampMs - scheduledTimestampMs >= (isKnown ? 2 : 1) * forMs;
  if (isNew || (awaits === 'later' && later.length === 0 && !isOver)) {
    throw comeBackIn(untilAskedAgainMs(account, 'acceptance', pace), NONE_LATER);
  }
  return !isOver;
}

/** A restore or failover since then may have lost what it wrote. Clocks may differ. */
const lostFromMs = ({ unconfirmedAtMs = Number.POSITIVE_INFINITY }: LookUpInput): number => unconfirmedAtMs - 60_000;

/** Counts an order that was not seen before. Not soon after a restore: the sums are read again. */
async function countNew(
  deps: ActivityDeps,
  account: Account,
  { known, tooSoon, type, request }: LookUpInput & { tooSoon: unknown },
  reading: LookUpReading,
): Promise<void> {
  if (reading.kind !== 'found' || known || tooSoon) return;
  await countAdopted(deps, account, type, request, reading.differences.length > 0 ? reading.order : undefined);
}

const limitsOfOurs = (
  caps: ReadonlyMap<string, string>,
  input: LookUpInput,
  reading: LookUpReading,
): { aboveCap?: string } =>
  reading.kind === 'found' && reading.differences.length === 0 ? aboveLimits(caps, input, reading.order) : {};

async function payersNow({ rates }: Account, { type, request }: LookUpInput, reading: LookUpReading) {
  const isCompleted = reading.kind === 'found' && reading.order.status === 'completed';
  return isCompleted ? undefined : payersOf(await rates.current(), type, request);
}

function isAwaited(
  reading: LookUpReading | ElsewhereAnswer,
  { awaits, sentTo }: LookUpInput,
  later: readonly LaterWitness[],
): boolean {
  if (reading.kind !== 'absent' || reading.control?.later) return true;
  // Who knows of no order that has to be shown cannot tell.
  const mayTell = sentTo?.witness !== undefined || later.some(({ mustBeShown }) => mustBeShown);
  return awaits === 'whole' && mayTell && reading.control?.whole === true;
}

const NONE_LATER = 'until the service shows an order that it accepted later';

/** Returns orders that were accepted after ours was sent, whatever the clocks differ by. */
function laterWitnesses(
  { lookUps, canary }: Account,
  { sentUntilMs, request, type }: LookUpInput,
  nowMs: number,
  windowMs: number,
): LaterWitness[] {
  if (sentUntilMs === undefined) return [];
  const aheadMs = Math.max(0, nowMs - activityInfo().currentAttemptScheduledTimestampMs);
  const about = { orderId: request.order_id, type, ...(canary && { depositsCountFor: canary.countsFor }) };
  return lookUps.witnesses.later(sentUntilMs + aheadMs, nowMs, windowMs, about);
}

/** Reads the order list and the status under our id, and the orders that make them credible. */
async function readAbsence(
  account: Account,
  { type, request, sentUntilMs, sentTo }: LookUpInput,
  later: readonly LaterWitness[],
  pace: Pace,
): Promise<LookUpReading> {
  const { service, lookUps } = account;
  const { order_id: orderId } = request;
  const pinned = sentUntilMs === undefined ? undefined : sentTo?.witness;
  const earlier = pinned && !isFormOfId(pinned.order_id, orderId) ? pinned : undefined;
  const others = [...later, ...(earlier ? [earlier] : [])];
  const { reading, missing } = await readByOrderId(service, { type, request }, others);
  if (reading.kind !== 'absent' || sentUntilMs === undefined) return reading;
  const isMissing = ({ order_uuid: uuid }: Witness) => missing.has(uuid);
  const whole = !(earlier && isMissing(earlier)) && !later.some((one) => one.mustBeShown && isMissing(one));
  // Without an earlier order, nothing proves that orders of another key would be shown.
  const isSameKey = earlier !== undefined || sentTo === undefined || sentTo.account === account.id;
  const isLater = later.some((one) => one.proves && !isMissing(one) && hasFormOf(one.order_id, orderId));
  // A deposit needs no later order, but one that is shown: the list may be of another key.
  const isShown = others.some((one) => !isMissing(one) && hasFormOf(one.order_id, orderId));
  const isUnchecked = !(isShown && isSameKey) && !factsOf(type).movesMoneyAtOnce;
  const isCredible = isUnchecked ? false : whole && isSameKey && isLater ? true : undefined;
  const othersFail = lookUps.witnesses.othersFail(orderId, type, OUTAGE_WINDOWS * pace.settleWindowMs.atOnce);
  return {
    ...reading,
    control: { whole, ...(isCredible !== undefined && { later: isCredible }), ...(othersFail && { othersFail }) },
  };
}

async function read(
  account: Account,
  input: LookUpInput,
  later: readonly LaterWitness[],
  pace: Pace,
): Promise<LookUpReading | ElsewhereAnswer> {
  const { orderUuid, sentTo, known } = input;
  const proves = known && !isOtherEndpoint(account, sentTo);
  const shown = orderUuid && proves ? await readKnown(account, input, orderUuid) : undefined;
  if (shown?.kind === 'found') return shown;
  const found = elsewhereOf(account, sentTo);
  if (found && found.why === input.told) throw failedElsewhere(found.why);
  if (found) return { kind: 'elsewhere', ...found };
  if (!orderUuid) return readNamed(account, input, await readAbsence(account, input, later, pace));
  const reading = shown ?? (await readByUuid(account, input, orderUuid));
  // It was seen before, so it cannot be absent.
  if (known && reading.kind === 'absent')
    throw noReading(`the status operation does not show the order (${reading.said})`);
  return reading;
}

/**
 * Reads orders named for other runs, if none is shown under our id. While one that was shown is not
 * shown, nothing is known to be absent; what only a callback named is no more than a callback.
 */
async function readNamed(
  account: Account,
  input: LookUpInput,
  reading: LookUpReading,
): Promise<LookUpReading & { calledBack?: true }> {
  if (reading.kind !== 'absent' || !reading.control || !input.asksOtherRuns) return reading;
  const { othersFail } = reading.control;
  const named = await ordersOfOtherRuns([activityInfo().workflowExecution?.workflowId ?? '']);
  for (const uuid of named.shown) {
    const shown = await readByUuid(account, input, uuid);
    if (shown.kind === 'found') return shown;
  }
  for (const uuid of named.calledBack) {
    // Anybody's order may be named, and the service may refuse what is no uuid of its.
    const shown = await readByUuid(account, input, uuid).catch(() => undefined);
    if (shown?.kind === 'found' && isFormOfId(shown.order.user_order_id, input.request.order_id)) return shown;
  }
  const calledBack = named.calledBack.size > 0 && ({ calledBack: true } as const);
  if (named.shown.size === 0 && !named.isCut) return { ...reading, ...calledBack };
  return { ...reading, control: { whole: false, ...(othersFail && { othersFail }) }, ...calledBack };
}

/** Reads a known order, in a group if many are due. Only seeing it again counts. */
function readKnown(account: Account, input: LookUpInput, orderUuid: string): Promise<LookUpReading> {
  return account.lookUps.read({ orderId: input.request.order_id, orderUuid }, patience(account), {
    shown: (item) => foundOrder(input, withoutChanges(item)),
    alone: () => readByUuid(account, input, orderUuid),
  });
}

async function readByUuid({ service }: Account, input: LookUpInput, orderUuid: string): Promise<LookUpReading> {
  const { order, said } = await service.orderStatus({ order_uuid: orderUuid });
  return order ? foundOrder(input, order) : { kind: 'absent', said };
}

/**
 * Makes the first look-up of a recovered run and checks its input. Fails only with InvalidOrder.
 */
export function lookUpRecoveredActivity(deps: ActivityDeps) {
  const lookUpOrder = lookUpOrderActivity(deps);
  return async function lookUpRecovered({
    type,
    account,
    input,
    ...asked
  }: LookUpRecoveredInput): Promise<LookUpAnswer | ElsewhereAnswer> {
    const checked = validateRecoveredInput(type, input);
    if ('errors' in checked) throw invalidOrder(checked.errors);
    const { order: request, recovered } = checked.input;
    return lookUpOrder({ ...asked, type, account, request, ...(recovered && { orderUuid: recovered.order_uuid }) });
  };
}
