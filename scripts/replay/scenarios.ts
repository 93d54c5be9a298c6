import { setTimeout as sleep } from 'node:timers/promises';
import type { OrderHandle } from '../../src/client/order-handle.js';
import {
  addressWorkflowId,
  BATCH_FILES_WORKFLOW,
  ORDERS_TASK_QUEUE,
  orderWorkflowId,
  readWorkflowId,
  SERVICE_READ_WORKFLOW,
} from '../../src/contract/names.js';
import type { OrderInput } from '../../src/contract/order/input-and-result.js';
import type { DecideAction } from '../../src/contract/order/messages.js';
import type { CreateRequest } from '../../src/contract/order/request.js';
import { ORDER_TYPES, type OrderType } from '../../src/contract/order/types.js';
import { scenarios as demoScenarios } from '../demo/scenarios.js';
import type { Installation } from './installation.js';

/**
 * One thing that happens to a workflow. `run` returns its id once it is closed; `<id>.r1` and `.r2` are recorded as well.
 * `alone`: it changes settings that all orders of the sandbox meet.
 */
export type Scenario = { name: string; alone?: true; run: (installation: Installation) => Promise<string> };

/** The demo's requests serve as templates: what differs here is what befalls the order. */
function requestOf(type: OrderType): CreateRequest {
  const template = demoScenarios('template').find((scenario) => scenario.type === type);
  if (!template) throw new Error(`the demo has no ${type}`);
  return template.input.order;
}

/** Input of an order that the marker steers. */
export function input(type: OrderType, name: string, marker?: string, options: Partial<OrderInput> = {}): OrderInput {
  const { description: _, ...fields } = requestOf(type);
  const order = { ...fields, order_id: name, ...(marker && { description: `[sandbox ${marker}]` }) };
  return { ...options, order } as OrderInput;
}

type OrderScenario = {
  type: OrderType;
  marker?: string;
  options?: Partial<OrderInput>;
  /** What is done to the order while it runs. */
  meanwhile?: (handle: OrderHandle) => Promise<unknown>;
};

const orderScenario = (name: string, { type, marker, options, meanwhile }: OrderScenario): Scenario => ({
  name,
  run: async ({ orders }) => {
    const handle = await orders.start(type, input(type, name, marker, options));
    await meanwhile?.(handle);
    // Some scenarios end in a failure, which is as good a history.
    await handle.result().catch(() => undefined);
    return handle.workflowId;
  },
});

/** The same while the service accepts another order every second: what is sent again needs one that is shown. */
export const amongOthers = ({ name, run, ...scenario }: Scenario): Scenario => ({
  ...scenario,
  name,
  run: async (installation) => {
    let others = 0;
    const start = () => installation.orders.start('withdraw', input('withdraw', `${name}-other-${++others}`));
    const timer = setInterval(() => void start().catch(() => undefined), 1_000);
    return run(installation).finally(() => clearInterval(timer));
  },
});

/** Decides as soon as the order is parked. */
export const decideWhenParked =
  (action: DecideAction) =>
  async (handle: OrderHandle): Promise<void> => {
    for (;;) {
      const { phase, revision } = await handle.state();
      if (phase === 'parked')
        return void (await handle.decide({ action, by: 'operator', reason: 'recorded', revision }));
      await sleep(100);
    }
  };

const cancelOnceCreated =
  ({ client }: Installation) =>
  async (handle: OrderHandle): Promise<void> => {
    await handle.created();
    await client.workflow.getHandle(handle.workflowId).cancel();
  };

/** A start without our client: nothing is checked before, no search attributes. */
const bareScenario = (name: string, argument: unknown, orderId = name): Scenario => ({
  name,
  run: async ({ client }) => {
    const workflowId = orderWorkflowId('default', orderId);
    const options = { taskQueue: ORDERS_TASK_QUEUE, workflowId, args: [argument] };
    await client.workflow.execute('withdraw', options).catch(() => undefined);
    return workflowId;
  },
});

/** Ends, and is reset to before its last look-up: the history of the run that this makes, which keeps most of the first one's. */
const resetScenario = (name: string): Scenario => ({
  name,
  run: async ({ orders, client }) => {
    const { workflowId } = await orders.start('withdraw', input('withdraw', name));
    const workflow = client.workflow.getHandle(workflowId);
    await workflow.result();
    const { events } = await workflow.fetchHistory();
    const ends = (events ?? []).filter((event) => event.workflowTaskCompletedEventAttributes);
    await client.workflowService.resetWorkflowExecution({
      namespace: client.options.namespace,
      workflowExecution: { workflowId },
      workflowTaskFinishEventId: ends.at(-2)?.eventId,
      requestId: name,
      reason: 'recorded',
    });
    await client.workflow.getHandle(workflowId).result();
    return workflowId;
  },
});

/** Ends partially. */
export const PARTIAL = 'outcome=completed_partially fraction=0.4';

/** Every registered workflow type, and the main branches of the order workflows. */
export const SCENARIOS: Scenario[] = [
  ...ORDER_TYPES.map((type) => orderScenario(`plain-${type.replaceAll('_', '-')}`, { type })),
  orderScenario('polled', { type: 'withdraw', marker: 'callback=drop after_ms=1500' }),
  orderScenario('watched', {
    type: 'deposit',
    meanwhile: (handle) => Promise.all([handle.created(), handle.final()]),
  }),
  orderScenario('adopted-after-5xx', { type: 'withdraw', marker: 'create=502-after' }),
  orderScenario('shown-in-another-form', { type: 'withdraw', marker: 'create=echo-masked' }),
  amongOthers(orderScenario('resent', { type: 'withdraw', marker: 'create=503-before' })),
  orderScenario('resent-deposit', { type: 'deposit', marker: 'create=503-before' }),
  orderScenario('rate-limited', { type: 'exchange', marker: 'create=429 retry_after=1' }),
  orderScenario('rejected', { type: 'withdraw', marker: 'create=400' }),
  orderScenario('undocumented-status', { type: 'withdraw', marker: 'status=unknown-status callback=drop' }),
  orderScenario('parked-resend', {
    type: 'withdraw',
    marker: 'create=503-before',
    options: { resend: 'never' },
    meanwhile: decideWhenParked('resend'),
  }),
  orderScenario('parked-unsigned', {
    type: 'withdraw',
    marker: 'create=503-before',
    options: { resend: 'never' },
    meanwhile: decideWhenParked('resend'),
  }),
  orderScenario('parked-close-absent', {
    type: 'exchange_withdraw',
    marker: 'create=503-before',
    options: { resend: 'never' },
    meanwhile: decideWhenParked('close-absent'),
  }),
  orderScenario('partial-reported', { type: 'exchange', marker: PARTIAL, options: { compensation: 'report' } }),
  orderScenario('partial-finished-withdraw', {
    type: 'withdraw',
    marker: PARTIAL,
    options: { compensation: 'finish' },
  }),
  orderScenario('partial-finished-exchange', {
    type: 'exchange',
    marker: PARTIAL,
    options: { compensation: 'finish' },
  }),
  orderScenario('partial-accepted', {
    type: 'withdraw',
    marker: PARTIAL,
    options: { compensation: 'ask' },
    meanwhile: decideWhenParked('accept'),
  }),
  orderScenario('error-reported', { type: 'exchange_withdraw', marker: 'outcome=error' }),
  {
    name: 'cancelled-too-late',
    run: (installation) =>
      orderScenario('cancelled-too-late', {
        type: 'withdraw',
        marker: 'after_ms=1500',
        meanwhile: cancelOnceCreated(installation),
      }).run(installation),
  },
  bareScenario('started-bare', input('withdraw', 'started-bare')),
  bareScenario('invalid', { order: { ...input('withdraw', 'invalid').order, amount: 12.5 } }),
  bareScenario('garbage', 'garbage'),
  // The first was recorded before the patch names-without-wallets, which refuses such ids.
  bareScenario('card-as-id', input('withdraw', '5555555555554444'), '5555555555554444'),
  bareScenario('card-as-id-refused', input('withdraw', '5105105105105100'), '5105105105105100'),
  // All above were recorded before the patch activities-of-one-run.
  resetScenario('reset-in-the-middle'),
  {
    name: 'service-read',
    run: async ({ client }) => {
      const workflowId = readWorkflowId('default', 'recorded');
      const args = [{ read: 'balances' }];
      await client.workflow.execute(SERVICE_READ_WORKFLOW, { taskQueue: ORDERS_TASK_QUEUE, workflowId, args });
      return workflowId;
    },
  },
  {
    name: 'batch-files',
    run: async ({ client }) => {
      const workflowId = readWorkflowId('default', 'recorded-files');
      const args = [{ act: 'upload', account: 'default', sha256: 'a'.repeat(64), format: 'csv', parts: 1 }];
      await client.workflow.execute(BATCH_FILES_WORKFLOW, { taskQueue: ORDERS_TASK_QUEUE, workflowId, args });
      return workflowId;
    },
  },
  {
    name: 'deposit-address',
    run: async ({ orders }) => {
      await orders.createAddress({ ref: 'recorded', address: { currency: 'usdt', network: 'tron' } });
      return addressWorkflowId('default', 'recorded');
    },
  },
];
