import { allHandlersFinished, CancellationScope, condition, log, workflowInfo } from '@temporalio/workflow';
import {
  EVENT_TEXTS,
  type EventData,
  type EventKind,
  type EventReceiver,
  type EventsInput,
  type OutgoingEvent,
  wants,
} from '../contract/events.js';
import {
  DELIVER_EVENTS_WORKFLOW,
  deliveryWorkflowId,
  EVENTS_SIGNAL,
  parseAfterEndWorkflowId,
} from '../contract/names.js';
import { signalOrStart } from './signal-or-start.js';

/** Events of a run that wait for their hand-over. */
export interface Outbox {
  readonly account: string;
  /** Receivers, as the newest answer of an activity names them. */
  receivers?: readonly EventReceiver[] | undefined;
  waiting: OutgoingEvent[];
  sequence: number;
  /** State that was emitted last, of those that come and go. */
  shown?: string | undefined;
  /** The newest hand-over. */
  sending: Promise<void>;
  isSending?: boolean;
  isDelivering?: () => boolean;
}

/** Returns an empty outbox. */
export const openOutbox = (account: string): Outbox => ({
  ...{ account, waiting: [], sequence: 0 },
  sending: Promise.resolve(),
});

/** Takes the receivers out of the details of a failure, which callers see. */
export const learnReceivers = (outbox: Outbox, details: readonly unknown[]): unknown[] =>
  details.filter((detail) => {
    const { receivers }: Pick<Outbox, 'receivers'> = Object(detail);
    if (Array.isArray(receivers)) outbox.receivers = receivers;
    return !Array.isArray(receivers);
  });

/** Facts of an event, unchecked except for `metadata`. */
export type Facts = Partial<Record<(typeof EVENT_TEXTS)[number], unknown>> & Pick<EventData, 'metadata'>;

/** Records an event, in memory only without receivers. `later`: another one follows at once. */
export function put(outbox: Outbox, type: EventKind, facts: Facts, later = false): void {
  outbox.sequence += 1;
  const { sequence, account } = outbox;
  const data = { account, sequence, ...textsOf(facts), ...(facts.metadata && { metadata: facts.metadata }) };
  const id = `${workflowInfo().runId}.${sequence}`;
  outbox.waiting.push({ id, type, timestamp: new Date().toISOString(), data });
  if (!later) void handOver(outbox);
}

/** Words and numbers, but no text that could contain private data. The longest is a path. */
const PLAIN = /^[\w.:/#-]{1,180}$/;

const textsOf = (facts: Facts): Partial<EventData> =>
  Object.fromEntries(
    EVENT_TEXTS.flatMap((field) => {
      const value = facts[field];
      return typeof value === 'string' && PLAIN.test(value) ? [[field, value]] : [];
    }),
  );

/** Workflow that the events are about: the ended one during the look-ups after its end. */
export const subject = (): string => {
  const { workflowId } = workflowInfo();
  return parseAfterEndWorkflowId(workflowId)?.ended ?? workflowId;
};

/** Returns true if no event waits that somebody wants. */
export const isHandedOver = ({ isSending, waiting, receivers }: Outbox): boolean =>
  !isSending && (receivers === undefined || waiting.length === 0);

/** Hands waiting events over once the receivers are known. Makes one hand-over at a time. */
export function handOver(outbox: Outbox): Promise<void> {
  if (!outbox.isSending && !isHandedOver(outbox))
    outbox.sending = CancellationScope.nonCancellable(() => handAllOver(outbox));
  return outbox.sending;
}

async function handAllOver(outbox: Outbox): Promise<void> {
  outbox.isSending = true;
  while (outbox.waiting.length > 0) {
    const events = outbox.waiting.splice(0);
    const receivers = (outbox.receivers ?? []).filter((receiver) => events.some((event) => wants(receiver, event)));
    if (receivers.length > 0) await deliver(outbox, { receivers, events });
  }
  outbox.isSending = false;
}

/** Signals the open delivery of the order, or starts one. Waits for Temporal only. */
async function deliver(outbox: Outbox, input: EventsInput): Promise<void> {
  const { account } = outbox;
  const target = { type: DELIVER_EVENTS_WORKFLOW, workflowId: deliveryWorkflowId(subject()), signal: EVENTS_SIGNAL };
  const isDelivering = await signalOrStart(
    { ...target, account, started: input, signalled: input },
    outbox.isDelivering?.() ?? false,
  );
  if (isDelivering) outbox.isDelivering = isDelivering;
  if (isDelivering === false) log.error('events were not handed over', { events: input.events.map(({ id }) => id) });
}

/**
 * Waits before every end of a run: hands over, then waits for handlers, until both hold. The caller
 * ends the run in the same step, so no message is cut off.
 */
export async function beforeEnd(
  hand = async (): Promise<unknown> => undefined,
  isLeft = (): boolean => false,
): Promise<void> {
  do {
    await hand();
    await condition(allHandlersFinished);
  } while (isLeft() || !allHandlersFinished());
}

/** Waits before the end of a run that has nothing left but events. */
export const beforeEndOf = (outbox: Outbox): Promise<void> =>
  beforeEnd(
    () => handOver(outbox),
    () => !isHandedOver(outbox),
  );
