import type { LookUpReading } from '../../contract/answers.js';
import type { Order } from '../../contract/orders.js';
import { closeWithoutOrder } from './close.js';
import { lookUp } from './look-up.js';
import { nothingSent, type OrderRun } from './order-run.js';
import { park } from './park.js';
import { enterPhase } from './phase.js';

/** From here on the order is ours and is looked up by its `order_uuid`. */
export function takeOrder(run: OrderRun, order: Order, how: 'accepted' | 'adopted'): void {
  run.order = order;
  run.adopted = how === 'adopted';
  // Only a signed look-up may name a verdict; the create's own answer may not, so it is looked up once more.
  run.orderFromLookUp = run.adopted;
}

/** Takes what a look-up found: our order, or something under our id that is not. Leaves 'absent' to the caller. */
export async function takeReading(run: OrderRun, reading: LookUpReading): Promise<void> {
  switch (reading.kind) {
    case 'absent':
      return;
    case 'duplicates':
      return resolveConflict(run, `the service shows several orders under our id: ${reading.orderUuids.join(', ')}`);
    case 'found':
      if (reading.differences.length === 0) return takeOrder(run, reading.order, 'adopted');
      return resolveConflict(
        run,
        `order ${reading.order.order_uuid} has our id but differs in ${reading.differences.join(', ')}`,
      );
  }
}

/**
 * An order under our id that is not ours. Before our first send nobody is in doubt and the workflow fails; afterwards
 * a person names the order to follow. Adopting checks the echo again: a person cannot adopt a different payment.
 */
export async function resolveConflict(run: OrderRun, reason: string): Promise<void> {
  if (nothingSent(run)) closeWithoutOrder(run, 'OrderConflict', `${reason}. Nothing was sent; use another order id`);
  let conflict = reason;
  while (!run.order) {
    const decision = await park(run, conflict, ['adopt']);
    enterPhase(run, 'uncertain', `a look-up of the order that ${decision.by} chose`);
    const choice = { summary: 'Look up the chosen order', orderUuid: decision.order_uuid, alarm: true };
    const reading = await lookUp(run, choice);
    if (reading.kind === 'found' && reading.differences.length === 0) takeOrder(run, reading.order, 'adopted');
    else conflict = `${reason}. The order ${decision.order_uuid} chosen by ${decision.by} is not this payment either`;
  }
}
