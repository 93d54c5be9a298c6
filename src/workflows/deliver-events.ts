import {
  ActivityFailure,
  CancellationScope,
  condition,
  defineSignal,
  isCancellation,
  metricMeter,
  proxyActivities,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import { literal } from '../contract/attention.js';
import {
  type EventKind,
  type EventsInput,
  GONE,
  type OutgoingEvent,
  RECEIVER_GONE,
  wants,
} from '../contract/events.js';
import {
  AGAIN_PRIORITY,
  BRAKE_PRIORITY,
  EVENTS_SIGNAL,
  parseGoneReceiverWorkflowId,
  SEND_EVENTS_SIGNAL,
  searchAttribute,
} from '../contract/names.js';
import { delivering, failureOf } from './activity-calls.js';
import { attentionAttributes, show } from './show.js';

/** Events for one receiver, in their order. */
interface Chain {
  receiver: string;
  waiting: OutgoingEvent[];
  undelivered: OutgoingEvent[];
  isSending: boolean;
  /** The receiver wants no more events. Only a person sends again. */
  isGone: boolean;
  /** A person sends what waits. */
  byPerson?: true;
  /** Event that is sent now; `isRefused`: for an hour in vain. `sendNow` does not wait. */
  current?: { event: OutgoingEvent; isRefused: boolean; sendNow: () => void } | undefined;
  /** Why the newest event was not delivered. */
  why?: string;
}

/** Delivers the events of one workflow, to each receiver by itself. Ends once all are delivered. */
export async function deliverEvents(input?: EventsInput): Promise<void> {
  const chains = new Map<string, Chain>();
  // A delivery for a receiver that wants no more events ends with the event that was refused.
  const isOfGone = parseGoneReceiverWorkflowId(workflowInfo().workflowId) !== undefined;
  let isEnded = isOfGone;
  const take = (more?: EventsInput): void => {
    isEnded ||= listOf(more?.events).some(({ type }) => LAST.includes(type));
    for (const receiver of listOf(more?.receivers)) {
      const { name } = receiver;
      const chain = chains.get(name) ?? {
        receiver: name,
        waiting: [],
        undelivered: [],
        isSending: false,
        isGone: isOfGone,
        ...(isOfGone && { why: `not delivered: ${GONE}` }),
      };
      chains.set(name, chain);
      chain.waiting.push(...listOf(more?.events).filter((event) => wants(receiver, event)));
      start(chain);
    }
  };
  const start = (chain: Chain): void => {
    sendAll(chain, shown).catch((error: unknown) => {
      if (!isCancellation(error)) throw error;
    });
  };
  const shown = () => showUndelivered([...chains.values()]);
  // Before the signals, which may have come before this first task.
  take(input);
  setHandler(defineSignal<[EventsInput?]>(EVENTS_SIGNAL), take, { description: 'More events of this workflow.' });
  setHandler(
    defineSignal<[string?]>(SEND_EVENTS_SIGNAL),
    (receiver) => {
      for (const chain of chains.values()) {
        const { current, undelivered } = chain;
        if (isDone(chain) || (typeof receiver === 'string' && receiver !== chain.receiver)) continue;
        chain.isGone = false;
        chain.byPerson = true;
        chain.waiting.unshift(...undelivered.splice(0), ...(current ? [current.event] : []));
        current?.sendNow();
        start(chain);
      }
    },
    { description: 'Sends undelivered events again, oldest first. "receiver": only to this one.' },
  );
  const isIdle = () => [...chains.values()].every(isDone);
  const isOver = () => isIdle() && isEnded;
  do await condition(isIdle);
  while (!isOver() && (await condition(() => !isIdle() || isOver(), QUIET_MS, { summary: 'Until it ends' })));
}

/** A signal within this time costs the order less history than another delivery. */
const QUIET_MS = 3_600_000;

/** Kinds after which a run has no more events. */
const LAST: readonly EventKind[] = ['order.ended', 'batch.ended', 'test'];

/** Returns a list, also for a signal that is not ours. */
const listOf = <T>(value: readonly T[] | undefined): readonly T[] => (Array.isArray(value) ? value : []);

const isDone = ({ isSending, undelivered }: Chain): boolean => !isSending && undelivered.length === 0;

/** Sends one event after the other. After three days without success, the next one is sent. */
async function sendAll(chain: Chain, shown: () => void): Promise<void> {
  if (chain.isSending) return;
  const { receiver, waiting, undelivered } = chain;
  chain.isSending = true;
  for (let event = waiting.shift(); event; event = waiting.shift()) {
    const end = chain.isGone ? 'given up' : await endOf(chain, event, shown);
    if (end === 'sent again') continue;
    if (end === 'given up') {
      undelivered.push(event);
      metricMeter
        .createCounter('payment_orders_events_undelivered_total', undefined, 'events that were not delivered in time')
        .add(1, { receiver, type: event.type });
    }
    shown();
  }
  chain.isSending = false;
  delete chain.byPerson;
  shown();
}

/** Sends an event, and asks a person after an hour. A person who sends it again ends that, too. */
async function endOf(
  chain: Chain,
  event: OutgoingEvent,
  shown: () => void,
): Promise<'delivered' | 'given up' | 'sent again'> {
  const scope = new CancellationScope();
  let isAgain = false;
  const sendNow = (): void => {
    isAgain = true;
    scope.cancel();
  };
  const current = { event, isRefused: false, sendNow };
  chain.current = current;
  try {
    return await scope.run(async () => {
      let failed = await send(chain, event, '1h', true);
      if (failed?.isRefused) {
        await sleep(Math.max(failed.heldMs, AGAIN_AFTER_MS), { summary: 'Before the event is sent again' });
        failed = await send(chain, event, '1h');
      }
      if (!failed) return 'delivered';
      if (failed.isFinal) return 'given up';
      current.isRefused = true;
      shown();
      if (failed.heldMs) await sleep(failed.heldMs, { summary: 'Retry-After of the receiver' });
      return (await send(chain, event, '71h')) ? 'given up' : 'delivered';
    });
  } catch (error) {
    if (isAgain && isCancellation(error)) return 'sent again';
    throw error;
  } finally {
    chain.current = undefined;
  }
}

/** Wait after a first attempt that failed. */
const AGAIN_AFTER_MS = 5_000;

/**
 * Sends an event, not behind refused ones if it is new. Returns undefined for a delivered one.
 * `isRefused`: its first attempt failed. `isFinal`: no other changes anything.
 */
async function send(chain: Chain, event: OutgoingEvent, limit: '1h' | '71h', isFirst = false) {
  const { receiver, byPerson } = chain;
  const input = { receiver, event, ...(byPerson && { byPerson }) };
  try {
    const priorityKey = byPerson ? BRAKE_PRIORITY : AGAIN_PRIORITY;
    const options = {
      ...delivering(receiver, event.type, limit),
      ...((byPerson || !isFirst) && { priority: { priorityKey } }),
      ...(isFirst && { retry: { maximumAttempts: 1 } }),
    };
    await proxyActivities<Activities>(options).deliverEvent(input);
    return undefined;
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    const failure = failureOf(error);
    chain.isGone = failure?.type === RECEIVER_GONE;
    chain.why = failure?.message ?? 'other events wait for the receiver, or no worker has it';
    return {
      isRefused: error.retryState === 'MAXIMUM_ATTEMPTS_REACHED',
      isFinal: failure?.nonRetryable === true,
      heldMs: Number(failure?.nextRetryDelay ?? 0),
    };
  }
}

/** Asks a person to look. A delivery without failures writes nothing. */
function showUndelivered(chains: readonly Chain[]): void {
  const troubled = chains.filter(({ undelivered, current }) => current?.isRefused || undelivered.length > 0);
  if (troubled.length === 0 && !workflowInfo().typedSearchAttributes.get(searchAttribute.needsAttention)) return;
  const lines = troubled.flatMap(({ receiver, undelivered, current, waiting, why = '' }) => {
    const next = current ? ' It is tried for three days.' : '';
    const all = [...undelivered, ...(current ? [current.event] : []), ...waiting];
    const of = all.map(({ id, type }) => `- \`${type}\` \`${id}\` to \`${receiver}\``);
    return [`\`${receiver}\` has not taken ${all.length}: ${literal(why)}.${next}`, '', ...of, ''];
  });
  const todo = '**To do**: mend the receiver, then send the signal `send` (command line: `event send`).';
  const calm = chains.every(isDone) ? 'All is delivered.' : 'Events are being sent.';
  const details = troubled.length > 0 ? ['**Undelivered events**', '', ...lines, todo].join('\n') : calm;
  show(details, attentionAttributes(troubled.length > 0 ? 'event-undelivered' : undefined));
}
