import { lookUp } from '../ask/ask.js';
import { enterPhase } from '../order/attention.js';
import type { OrderRun } from '../order/run.js';
import { takeReading } from './conflict.js';

/** Callbacks that make a parked run look again; more would let a flood of forged ones cost look-ups. */
const MAX_LOOKS = 20;

/**
 * What a run does about callbacks that come while it waits for a decision on an order it does not know. `pending`: one came
 * and is worth a look; `look` takes what a signed look-up shows, by order_uuid where that is known.
 */
export function lateCallbacks(run: OrderRun, orderUuid?: string) {
  let looks = 0;
  return {
    pending: () => run.callbackPending && looks < MAX_LOOKS,
    look: async () => {
      looks += 1;
      run.callbackPending = false;
      enterPhase(run, 'uncertain', 'a look-up: a callback came late');
      const options = { summary: 'A late callback: is it there?', alarm: true, ...(orderUuid && { orderUuid }) };
      await takeReading(run, await lookUp(run, options));
    },
  };
}
