import {
  ApplicationFailure,
  condition,
  defineQuery,
  defineSignal,
  defineUpdate,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { OrderInput, OrderResult } from '../../src/contract/order/input-and-result.js';
import type { OrderState } from '../../src/contract/order/messages.js';
import type { Order } from '../../src/contract/service-objects.js';

/**
 * Order workflows reduced to their messages: the description of the order says what becomes of it. `never-created`,
 * `fails:<type>`, `fails-invalid`, `ends-when-asked` (in the very task that carries the question); otherwise the order exists at once and ends with the signal `end`.
 */

const orderState = defineQuery<OrderState>('orderState');
const created = defineUpdate<Order>('created');
const final = defineUpdate<Order>('final');
const end = defineSignal('end');

/** Keeps the workflow task busy for some tenths of a second, so that messages come in meanwhile. */
function dawdle(): void {
  for (let step = 0; step < 500_000_000; step += 1);
}

const orderOf = (input: OrderInput, status: string) =>
  ({ order_uuid: `uuid-${input.order.order_id}`, user_order_id: input.order.order_id, status }) as Order;

function failureOf(script: string, type: string): ApplicationFailure | undefined {
  if (script === 'fails') return ApplicationFailure.nonRetryable('said no', type);
  if (script !== 'fails-invalid') return undefined;
  const details = [[{ field: 'order.amount', reason: 'below the minimum' }]];
  return ApplicationFailure.create({ type: 'InvalidOrder', message: 'bad', nonRetryable: true, details });
}

async function order(input: OrderInput): Promise<OrderResult> {
  const [script = '', failure = ''] = (input.order.description ?? '').split(':');
  let ended = false;
  const state = (): OrderState => ({
    phase: 'following',
    revision: 3,
    runId: workflowInfo().runId,
    status: 'processing',
    order: orderOf(input, 'processing'),
    waitingFor: 'the signal `end`',
    decisions: [],
    lastLookupAt: null,
  });
  setHandler(orderState, state);
  setHandler(end, () => {
    ended = true;
  });
  const reason = failureOf(script, failure);
  setHandler(created, async () => {
    if (script === 'never-created') await condition(() => false);
    if (reason) throw reason;
    if (script === 'ends-when-asked') {
      dawdle();
      ended = true;
    }
    return orderOf(input, 'new');
  });
  setHandler(final, async () => {
    if (reason) throw reason;
    await condition(() => ended);
    return orderOf(input, 'completed');
  });
  if (reason) throw reason;
  await condition(() => ended);
  return { outcome: 'completed', order: orderOf(input, 'completed'), adopted: false };
}

export const withdraw = (input: OrderInput) => order(input);
export const deposit = (input: OrderInput) => order(input);
