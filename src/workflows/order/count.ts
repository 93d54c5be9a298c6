import { metricMeter } from '@temporalio/workflow';
import type { OrderRun } from './state.js';

/** Counts an order that ends. Never done by a replay, and writes nothing into the history. */
export function countEnd({ type, account }: OrderRun, outcome: string): void {
  metricMeter
    .createCounter('payment_orders_ended_total', undefined, 'orders that ended')
    .add(1, { type, account, outcome });
}

/** Tells how long a callback took to show the final status; `callbackAtMs` and now by the workflow's clock. */
export function countCallback({ account }: OrderRun, callbackAtMs: number): void {
  metricMeter
    .createHistogram('payment_orders_callback_to_final_seconds', 'float', 's', 'from a callback to the final status')
    .record((Date.now() - callbackAtMs) / 1_000, { account });
}
