import { shownDifferences } from '../../contract/differences/echo.js';
import type { LookUpReading, SeveralOrders } from '../../contract/order/answers.js';
import type { Order } from '../../contract/order/order.js';
import { raiseAttention } from '../order/attention.js';
import type { OrderRun } from '../order/run.js';

/** Something under our id that is not simply our order. `ours`: which of several orders are what we asked for. */
export interface Conflict {
  reason: string;
  ours: readonly string[];
}

/** What a reading says about our order; `soft`: fields of ours that are shown in another form. */
export type Finding =
  | { kind: 'ours'; order: Order; soft?: string[] }
  | { kind: 'absent' }
  | ({ kind: 'conflict' } & Conflict);

/**
 * From here on the order is ours and is looked up by its `order_uuid`. `shownOtherwise`: fields that the service shows in
 * another form, which a person is told while the order goes on.
 */
export function takeOrder(
  run: OrderRun,
  order: Order,
  how: 'accepted' | 'adopted',
  shownOtherwise: readonly string[] = [],
): void {
  run.order = order;
  run.adopted = how === 'adopted';
  // Only a signed look-up may name a verdict; the create's own answer may not, so it is looked up once more.
  run.orderFromLookUp = run.adopted;
  if (shownOtherwise.length === 0) return;
  run.echoDifferences = [...shownOtherwise];
  const fields = shownOtherwise.join(', ');
  raiseAttention(run, `order ${order.order_uuid} is ours, and the service shows it in another form: ${fields}`);
}

/** An order under our id that the echo check refused. */
export const foreignOrder = (run: OrderRun, order: Order, differences: readonly string[]): Conflict => ({
  reason: `order ${order.order_uuid} has our id but differs in ${shownDifferences(run.type, run.request, order, differences)}`,
  ours: [],
});

/** Several orders under our id: which one to follow is for a person to say, even where only one is like ours. */
export function severalOrders({ orderUuids, ours }: SeveralOrders): Conflict {
  const like = ours.length > 0 ? `like this payment: ${ours.join(', ')}` : 'none is this payment';
  return { reason: `the service shows several orders under our id: ${orderUuids.join(', ')} (${like})`, ours };
}

/** Sorts a reading: our order, none, or a conflict. Every adoption passes here, and with it the echo check. */
export function judge(run: OrderRun, reading: LookUpReading): Finding {
  switch (reading.kind) {
    case 'absent':
      return { kind: 'absent' };
    case 'duplicates':
      return { kind: 'conflict', ...severalOrders(reading) };
    case 'found': {
      const { order, differences, soft } = reading;
      if (differences.length === 0) return { kind: 'ours', order, ...(soft && { soft }) };
      return { kind: 'conflict', ...foreignOrder(run, order, differences) };
    }
  }
}
