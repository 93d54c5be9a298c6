import { activityInfo, cancellationSignal, heartbeat, sleep } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { KEY_REFUSED, statusText } from '../../contract/failures.js';
import { beforePollsMs, type Pace, type PollAnswer, type PollInput } from '../../contract/order/activities.js';
import { ATTENTION_AFTER_MS } from '../../contract/order/messages.js';
import { isFinal, isKnownStatus, type Order } from '../../contract/service-objects.js';
import type { StatusAnswer } from '../../payment-service/client.js';
import { type Account, type ActivityDeps, accountOf } from '../deps.js';
import { comeBackIn, noReading, retryLater, retryOrTell } from '../failures.js';
import { lastHeartbeat } from '../only-attempt.js';
import { withoutChanges } from './probe.js';
import { isElsewhere, isOtherEndpoint, refuseElsewhere } from './sent-to.js';

/** Polls within the first attempt. More attempts cost the server more than short waits. */
const POLLS_WITHIN = { most: 5, shortWaitMs: 1_000, longestMs: 3_000 };

/** Polls until the status is final or unknown. The server repeats it without history. */
export function pollOrderActivity(deps: ActivityDeps) {
  return async function pollOrder(input: PollInput): Promise<PollAnswer> {
    const { attempt } = activityInfo();
    const within = pollsWithin(deps, input);
    const begunMs = performance.now();
    for (let poll = attempt === 1 ? 1 : within + attempt - 1; ; poll += 1) {
      const delayMs = pollDelayMs(deps.pace, poll);
      const answer = await pollOnce(deps, input, delayMs);
      if ('silent' in answer || input.silence === 'told' || !isTolerated(answer.status, input)) return answer;
      const staysHere = poll < within && performance.now() - begunMs < POLLS_WITHIN.longestMs;
      if (!staysHere) throw comeBackIn(delayMs, `status at the service: ${answer.status.slice(0, 40)}`);
      await sleep(delayMs);
    }
  };
}

async function pollOnce(deps: ActivityDeps, input: PollInput, delayMs: number): Promise<PollAnswer> {
  try {
    const order = await askStatus(deps, input, delayMs);
    endSilence();
    return order;
  } catch (error) {
    const isLong = noteSilence(input);
    if (error instanceof ApplicationFailure && error.type === KEY_REFUSED) {
      return { silent: true, keyRefused: error.message };
    }
    if (isLong) return { silent: true, ...(isElsewhere(error) && { elsewhere: true }) };
    throw error;
  }
}

/** Returns the polls of the first attempt: one under a limit, which distributes attempts. */
function pollsWithin(deps: ActivityDeps, { account }: PollInput): number {
  let polls = 1;
  if (accountOf(deps, account).limiter.intervalMs > 0) return polls;
  while (polls < POLLS_WITHIN.most && pollDelayMs(deps.pace, polls, 0) < POLLS_WITHIN.shortWaitMs) polls += 1;
  return polls;
}

/** Heartbeat for the next attempt: the server's time of the first attempt without a reading. */
interface Silence {
  sinceMs?: number;
}

const silenceSoFar = (): Silence => lastHeartbeat() ?? {};

/** Records that there was no reading. Returns true if it must be reported now. */
function noteSilence({ silence }: PollInput): boolean {
  const nowMs = activityInfo().currentAttemptScheduledTimestampMs;
  const { sinceMs = nowMs } = silenceSoFar();
  heartbeat({ sinceMs } satisfies Silence);
  return silence === 'untold' && nowMs - sinceMs >= ATTENTION_AFTER_MS;
}

function endSilence(): void {
  if (silenceSoFar().sinceMs !== undefined) heartbeat({} satisfies Silence);
}

/** Returns true for a status that is not final and need not be reported. */
const isTolerated = (status: string, { tolerateAll = false }: PollInput): boolean =>
  !isFinal(status) && (tolerateAll || isKnownStatus(status));

async function askStatus(deps: ActivityDeps, input: PollInput, delayMs: number): Promise<Order> {
  const { account: name, orderId, orderUuid, sentTo } = input;
  const account = accountOf(deps, name);
  try {
    // Without a uuid, nothing in the answer proves which order it is.
    if (!orderUuid || isOtherEndpoint(account, sentTo)) refuseElsewhere(account, sentTo);
    const { order, said } = await status(account, input, delayMs);
    if (!order) {
      refuseElsewhere(account, sentTo);
      throw comeBackIn(delayMs, `the service does not show the order right now (${said})`);
    }
    if (order.user_order_id !== orderId) throw noReading('the status operation shows another order', delayMs);
    return order;
  } catch (error) {
    throw input.silence === 'untold' ? retryOrTell(error, account, delayMs) : retryLater(error, delayMs);
  }
}

/** Maximum wait of a poll for others. With two requests of 5 s, it fits into an attempt of 45 s. */
const LONGEST_PATIENCE_MS = 20_000;
const OWN_ANSWER_MS = 15_000;

/**
 * Reads the status, or the order list for many orders: polls wait for others for a tenth of their
 * delay.
 */
function status(
  { service, lookUps }: Account,
  { orderId, orderUuid }: PollInput,
  delayMs: number,
): Promise<StatusAnswer> {
  if (!orderUuid) return service.orderStatus({ order_id: orderId });
  const patienceMs = Math.min(delayMs / 10, LONGEST_PATIENCE_MS);
  return lookUps.poll(
    { orderId, orderUuid },
    { patienceMs, signal: cancellationSignal() },
    {
      shown: (item) => ({ order: withoutChanges(item), said: statusText(200) }),
      alone: () => service.orderStatus({ order_uuid: orderUuid }, { timeoutMs: OWN_ANSWER_MS }),
    },
  );
}

/**
 * Returns the delay, doubled up to the longest and up to a tenth shorter, so that orders spread.
 */
export function pollDelayMs(pace: Pace, poll: number, random = Math.random()): number {
  const { pollInitialMs, pollMaxMs } = pace;
  // The workflow may have waited once before. The exponent is limited, because 2 ** 1100 is
  // Infinity.
  const doublings = Math.min(beforePollsMs(pace) > 0 ? poll : poll - 1, 40);
  return Math.min(pollInitialMs * 2 ** doublings, pollMaxMs) * (1 - random / 10);
}
