import { Worker } from '@temporalio/worker';
import { afterAll, beforeAll } from 'vitest';
import { PaymentOrders } from '../../src/client.js';
import { ORDERS_TASK_QUEUE } from '../../src/contract/names.js';
import type { OrderInput } from '../../src/contract/order/input-and-result.js';
import { testWorkflowBundle } from '../support/bundle-once.js';
import { type TestNamespace, useNamespace } from '../support/temporal.js';

/** The library on a namespace of its own, with a worker that runs the scripted workflows of ./fixtures. */
export interface ClientFixture {
  orders: PaymentOrders;
  namespace: TestNamespace;
  /** Runs the worker until it is stopped; tests without a worker do not call it. */
  startWorker(): Promise<() => Promise<void>>;
}

async function startWorker({ nativeConnection, namespace }: TestNamespace): Promise<() => Promise<void>> {
  const worker = await Worker.create({
    connection: nativeConnection,
    namespace,
    taskQueue: ORDERS_TASK_QUEUE,
    workflowBundle: await testWorkflowBundle(new URL('./workflows.fixture.ts', import.meta.url)),
  });
  const running = worker.run();
  return async () => {
    worker.shutdown();
    await running;
  };
}

/** Sets the fixture up for a test file; with a worker unless `withWorker` is false. */
export function useClient({ withWorker = true } = {}): ClientFixture {
  const namespace = useNamespace();
  const fixture = { namespace, startWorker: () => startWorker(namespace) } as ClientFixture;
  let stop = async (): Promise<void> => {};
  beforeAll(async () => {
    fixture.orders = new PaymentOrders(namespace.client);
    if (withWorker) stop = await startWorker(namespace);
  });
  afterAll(() => stop());
  return fixture;
}

/** A valid payout whose description scripts its workflow. */
export const payout = (orderId: string, script?: string): OrderInput<'withdraw'> => ({
  order: {
    order_id: orderId,
    currency: 'usd',
    network: 'card',
    amount: '12.50',
    wallet: '4111111111111111',
    ...(script && { description: script }),
  },
});

/** Lets a scripted order complete. */
export const end = (fixture: ClientFixture, orderId: string): Promise<void> =>
  fixture.namespace.client.workflow.getHandle(`order:default:${orderId}`).signal('end');
