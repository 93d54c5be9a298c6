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
  /** Event that was refused for an hour. It is still sent, and `sendNow` does not wait. */
  refused?: { event: OutgoingEvent; sendNow: () => void } | undefined;
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
  const troubled = () => [...chains.values()].filter(({ undelivered, refused }) => refused ?? undelivered.length > 0);
  const shown = () => showUndelivered(troubled());
  // Before the signals, which may have come before this first task.
  take(input);
  setHandler(defineSignal<[EventsInput?]>(EVENTS_SIGNAL), take, { description: 'More events of this workflow.' });
  setHandler(
    defineSignal(SEND_EVENTS_SIGNAL),
    () => {
      for (const chain of troubled()) {
        chain.isGone = false;
        chain.byPerson = true;
        const current = chain.refused ? [chain.refused.event] : [];
        chain.waiting.unshift(...chain.undelivered.splice(0), ...current);
        chain.refused?.sendNow();
        start(chain);
      }
    },
    { description: 'Sends undelivered events again, oldest first.' },
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
    if (chain.isGone || !(await isDealtWith(chain, event, shown))) {
      undelivered.push(event);
      metricMeter
        .createCounter('payment_orders_events_undelivered_total', undefined, 'events that were not delivered in time')
        .add(1, { receiver, type: event.type });
      shown();
    }
  }
  chain.isSending = false;
  delete chain.byPerson;
  shown();
}

/** Sends an event, and asks a person after an hour. Returns true unless it was given up. */
async function isDealtWith(chain: Chain, event: OutgoingEvent, shown: () => void): Promise<boolean> {
  const first = await send(chain, event, '1h');
  if (!first) shown();
  if (!first || first.isFinal) return !first;
  const scope = new CancellationScope();
  let isAnew = false;
  const sendNow = (): void => {
    isAnew = true;
    chain.refused = undefined;
    scope.cancel();
  };
  chain.refused = { event, sendNow };
  shown();
  try {
    const later = await scope.run(async () => {
      if (first.heldMs) await sleep(first.heldMs, { summary: 'Retry-After of the receiver' });
      return send(chain, event, '71h');
    });
    chain.refused = undefined;
    if (!later) shown();
    return !later;
  } catch (error) {
    if (isAnew && isCancellation(error)) return true;
    throw error;
  }
}

/** Returns undefined for a delivered event. `isFinal`: another attempt changes nothing. */
async function send(chain: Chain, event: OutgoingEvent, limit: '1h' | '71h') {
  const { receiver, byPerson } = chain;
  const input = { receiver, event, ...(byPerson && { byPerson }) };
  try {
    // It does not wait for events that the receiver refuses.
    const first = byPerson && { priority: { priorityKey: BRAKE_PRIORITY } };
    const options = { ...delivering(receiver, event.type, limit), ...first };
    await proxyActivities<Activities>(options).deliverEvent(input);
    return undefined;
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    const failure = failureOf(error);
    chain.isGone = failure?.type === RECEIVER_GONE;
    chain.why = failure?.message ?? 'other events wait for the receiver, or no worker has it';
    return { isFinal: failure?.nonRetryable === true, heldMs: Number(failure?.nextRetryDelay ?? 0) };
  }
}

/** Asks a person to look. A delivery without failures writes nothing. */
function showUndelivered(chains: readonly Chain[]): void {
  if (chains.length === 0 && !workflowInfo().typedSearchAttributes.get(searchAttribute.needsAttention)) return;
  const lines = chains.flatMap(({ receiver, undelivered, refused, waiting, why = '' }) => {
    const next = refused ? ' It is tried for three days.' : '';
    const all = [...undelivered, ...(refused ? [refused.event] : []), ...waiting];
    const of = all.map(({ id, type }) => `- \`${type}\` \`${id}\` to \`${receiver}\``);
    return [`\`${receiver}\` has not taken ${all.length}: ${literal(why)}.${next}`, '', ...of, ''];
  });
  const todo = '**To do**: mend the receiver, then send the signal `send` (command line: `event send`).';
  const details = chains.length > 0 ? ['**Undelivered events**', '', ...lines, todo].join('\n') : 'All is delivered.';
  show(details, attentionAttributes(chains.length > 0 ? 'event-undelivered' : undefined));
}
