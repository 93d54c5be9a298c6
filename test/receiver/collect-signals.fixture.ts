import { condition, defineSignal, setHandler } from '@temporalio/workflow';
import { ORDER_CALLBACK_SIGNAL } from '../../src/contract/names.js';
import type { CallbackHint } from '../../src/contract/order/messages.js';

/** Ends the fixture with the hints collected so far. */
export const endSignal = defineSignal('end');

/** Stands in for an order: collects the hints of its callbacks until it is told to end. */
export async function collectSignals(): Promise<CallbackHint[]> {
  const hints: CallbackHint[] = [];
  let ended = false;
  setHandler(defineSignal<[CallbackHint]>(ORDER_CALLBACK_SIGNAL), (hint) => {
    hints.push(hint);
  });
  setHandler(endSignal, () => {
    ended = true;
  });
  await condition(() => ended);
  return hints;
}
