/* Outgoing events, as histories hold them. Fields may be added, never renamed. */

/** Kinds of events. `test` asks whether a receiver answers. */
export const EVENT_KINDS = [
  'order.created',
  'order.needs_attention',
  'order.attention_over',
  'order.final',
  'order.ended',
  'order.changed_after_end',
  'batch.planned',
  'batch.awaits_approval',
  'batch.paused',
  'batch.ended',
  'test',
] as const;

/** One of the kinds. */
export type EventKind = (typeof EVENT_KINDS)[number];

/** A receiver as orders know it. Without `kinds` it gets all of them. */
export interface EventReceiver {
  name: string;
  kinds?: readonly EventKind[];
}

/** Returns true for an event that a receiver gets. */
export const wants = ({ kinds }: EventReceiver, { type }: Pick<OutgoingEvent, 'type'>): boolean =>
  !kinds || type === 'test' || kinds.includes(type);

/** Texts that an event may carry. No wallet, name, e-mail, description or free text. */
export const EVENT_TEXTS = [
  'order_id',
  'order_type',
  'order_uuid',
  'status',
  /** Final status of the result; of a batch `completed` or `incomplete`. */
  'outcome',
  /** Type of the failure. */
  'failure',
  /** Code of what a person should look at. */
  'code',
  'compensation',
  'batch_id',
  'reference',
  'rows',
  /** Path of the report below REPORT_DIR, and the hash (hex) of its bytes. */
  'report',
  'report_sha256',
  /** As in the order; of a batch, sums: `expected_amount_from` asked, `amount_to` paid. */
  'currency_from',
  'currency_to',
  'amount_from',
  'amount_to',
  'expected_amount_from',
  'expected_amount_to',
] as const;

/** Facts of an event. `sequence`: position in one run; `metadata`: from the caller. */
export type EventData = { account: string; sequence: number; metadata?: Record<string, string> } & Partial<
  Record<(typeof EVENT_TEXTS)[number], string>
>;

/** One event. `id` is `<run id>.<sequence>`, the same whenever it is sent. */
export interface OutgoingEvent {
  id: string;
  type: EventKind;
  /** When it happened, in ISO format. */
  timestamp: string;
  data: EventData;
}

/** Input and signal of the delivery workflow. */
export interface EventsInput {
  receivers: readonly EventReceiver[];
  events: readonly OutgoingEvent[];
}

/** One delivery. The activity refuses an event with another shape. */
export interface DeliverEventInput {
  receiver: string;
  event: OutgoingEvent;
  /** A person sends it, also to a receiver that wanted no more events. */
  byPerson?: true;
}

/** Failure type of a delivery that is tried again. */
export const NOT_DELIVERED = 'NotDelivered';
/** Failure type of a delivery to a receiver that wants no more events (HTTP 410). */
export const RECEIVER_GONE = 'ReceiverGone';
/** Answer of such a receiver, in words. */
export const GONE = 'HTTP 410, so the receiver wants no more events';
