import { closeWithoutOrder } from './close.js';
import type { OrderRun } from './order-run.js';
import { settle } from './settle.js';

/** A person wants an uncertain order closed. Their word is not enough: absence is proven once more, in full. */
export async function closeIfAbsent(run: OrderRun, decidedBy: string): Promise<void> {
  if ((await settle(run, 'absence is proven once more before closing')) === 'found') return;
  closeWithoutOrder(run, 'OrderAbsent', `the service has no order ${run.orderId}; closed as absent by ${decidedBy}`);
}
