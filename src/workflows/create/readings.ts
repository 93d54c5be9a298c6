import { shownDifferences } from '../../contract/differences/echo.js';
import type { Control, DuplicateOrders, LookUpReading } from '../../contract/order/activities.js';
import type { Order } from '../../contract/service-objects.js';
import type { Candidate, OrderRun } from '../order/state.js';

/** More of them would hide the rest of what a person reads; each is named in the reason. */
export const MAX_CANDIDATES = 3;

/** An order of ours at the service. */
export interface Ours {
  kind: 'ours';
  order: Order;
  how: 'accepted' | 'adopted';
  /** Fields that the service shows in another form, which a person is told while the order goes on. */
  soft?: readonly string[];
  /** Fields in spite of which a person adopted it. */
  overruled?: string[];
  /** Why it comes to more than cap and approval allow. */
  aboveCap?: string;
}

/** Something under our id that is not simply our order. */
export interface Conflict {
  kind: 'conflict';
  reason: string;
  /** Which of several orders are what we asked for. */
  ours: readonly string[];
  /** What a person may adopt: those that are ours or, where none is, what was shown. */
  candidates: readonly Candidate[];
  /** Nothing more is to be read before a person is asked. */
  askAtOnce?: true;
  /** The service named it in its answer to our own create. */
  isNamed?: true;
  /** The one order that is not like ours, and in which fields. */
  foreign?: { order: Order; differences: string[]; soft?: readonly string[] };
}

/** True if only the id has another form, or the service named it as our create: its `order_uuid` can be followed. */
export const isFollowable = ({ foreign, isNamed }: Conflict): boolean =>
  isNamed === true || !foreign?.differences.includes('order_id') || foreign.differences.length === 1;

/** No order of ours. `said`: how the status operation shows none, for people. */
export interface Absent {
  kind: 'absent';
  said?: string;
  control?: Control;
}

/** What the service shows. */
export type Seen = Ours | Absent | Conflict;

/** Sorts a reading: our order, none, or a conflict. Every adoption passes here, and with it the echo check. */
export function seenIn(asked: Pick<OrderRun, 'type' | 'request'>, reading: LookUpReading): Seen {
  switch (reading.kind) {
    case 'absent':
      return reading;
    case 'duplicates':
      return duplicateOrders(reading);
    case 'found': {
      const { order, differences, soft, aboveCap } = reading;
      return differences.length === 0
        ? { kind: 'ours', order, how: 'adopted', soft, aboveCap }
        : foreignOrder(asked, { order, differences, soft });
    }
  }
}

/** An order that the echo check refused. */
export function foreignOrder(
  { type, request }: Pick<OrderRun, 'type' | 'request'>,
  foreign: NonNullable<Conflict['foreign']>,
): Conflict {
  const { order, differences } = foreign;
  const shown = shownDifferences(type, request, order, differences);
  return {
    kind: 'conflict',
    reason: `order ${order.order_uuid} has our id but differs in ${shown}`,
    ours: [],
    candidates: [{ order_uuid: order.order_uuid, differences }],
    foreign,
    // Only our id has another form: no later reading makes that another payment.
    ...(differences.join() === 'order_id' && { askAtOnce: true }),
  };
}

/** Several orders under our id: which one to follow is for a person to say, even where only one is like ours. */
export function duplicateOrders({ orderUuids, ours }: DuplicateOrders): Conflict {
  const like = ours.length > 0 ? `like this payment: ${ours.join(', ')}` : 'none is this payment';
  const reason = `the service shows several orders under our id: ${orderUuids.join(', ')} (${like})`;
  const shown = ours.length > 0 ? ours : orderUuids;
  const candidates = shown.slice(0, MAX_CANDIDATES).map((order_uuid) => ({ order_uuid }));
  return { kind: 'conflict', reason, ours, candidates };
}
