import { shownDifferences } from '../../contract/differences/echo.js';
import type { LookUpReading, SeveralOrders } from '../../contract/order/answers.js';
import type { Order } from '../../contract/order/order.js';
import { raiseAttention } from '../order/attention.js';
import type { OrderRun } from '../order/run.js';

/** An order of ours at the service. */
export interface Ours {
  kind: 'ours';
  order: Order;
  how: 'accepted' | 'adopted';
  /** Fields that the service shows in another form, which a person is told while the order goes on. */
  soft?: readonly string[] | undefined;
  /** Fields in spite of which a person adopted it. */
  overruled?: string[];
}

/** Something under our id that is not simply our order. `ours`: which of several orders are what we asked for. */
export interface Conflict {
  kind: 'conflict';
  reason: string;
  ours: readonly string[];
}

/** What the service shows under our order id. */
export type Seen = Ours | { kind: 'absent' } | Conflict;

/** THE place where a run gets its order, which is looked up by its `order_uuid` from here on. */
export function takeOrder(run: OrderRun, { order, how, soft = [], overruled }: Ours): Order {
  run.order = order;
  run.adopted = how === 'adopted';
  // Only a signed look-up may name a verdict; the create's own answer may not, so it is looked up once more.
  run.orderFromLookUp = run.adopted;
  run.overruled = overruled;
  if (overruled || soft.length > 0) run.echoDifferences = [...(overruled ?? []), ...soft];
  if (!overruled && soft.length > 0) {
    raiseAttention(
      run,
      `order ${order.order_uuid} is ours, and the service shows it in another form: ${soft.join(', ')}`,
    );
  }
  return order;
}

/** An order under our id that the echo check refused. */
export const foreignOrder = (
  { type, request }: Pick<OrderRun, 'type' | 'request'>,
  order: Order,
  differences: readonly string[],
): Conflict => ({
  kind: 'conflict',
  reason: `order ${order.order_uuid} has our id but differs in ${shownDifferences(type, request, order, differences)}`,
  ours: [],
});

/** Several orders under our id: which one to follow is for a person to say, even where only one is like ours. */
export function severalOrders({ orderUuids, ours }: SeveralOrders): Conflict {
  const like = ours.length > 0 ? `like this payment: ${ours.join(', ')}` : 'none is this payment';
  const reason = `the service shows several orders under our id: ${orderUuids.join(', ')} (${like})`;
  return { kind: 'conflict', reason, ours };
}

/** Sorts a reading: our order, none, or a conflict. Every adoption passes here, and with it the echo check. */
export function seenIn(asked: Pick<OrderRun, 'type' | 'request'>, reading: LookUpReading): Seen {
  switch (reading.kind) {
    case 'absent':
      return { kind: 'absent' };
    case 'duplicates':
      return severalOrders(reading);
    case 'found': {
      const { order, differences, soft } = reading;
      return differences.length === 0
        ? { kind: 'ours', order, how: 'adopted', soft }
        : foreignOrder(asked, order, differences);
    }
  }
}
