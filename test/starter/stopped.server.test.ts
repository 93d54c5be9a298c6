import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { orderInput } from '../support/inputs.js';
import { newOrderId } from '../support/lab.js';
import { createTestNamespace, type TestNamespace } from '../support/temporal.js';
import { endProcesses, startProcess, temporalEnv } from '../worker/process.fixture.js';

let temporal: TestNamespace;
beforeAll(async () => {
  temporal = await createTestNamespace();
});
afterAll(async () => {
  await endProcesses();
  await temporal?.close();
});

const starter = (args: string[], stdin?: string) =>
  startProcess('src/starter.ts', temporalEnv(temporal), { args, stdin });

test.for([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s while a command waits says that the order goes on, and leaves it alone', async ([signal, code]) => {
  const orderId = newOrderId('stopped');
  const input = JSON.stringify(orderInput('withdraw', orderId));
  const waiting = starter(['order', 'start', 'withdraw', '-', '--wait', '--json'], input);
  await vi.waitUntil(() => waiting.stderr().includes(`waiting for order ${orderId}`), { timeout: 60_000 });
  waiting.kill(signal);
  expect(await waiting.exited, waiting.stderr()).toBe(code);
  expect(waiting.stderr()).toContain(
    `order ${orderId} goes on without this command; never start it under another id. Where it stands: payment-orders order show ${orderId}`,
  );
  expect(waiting.stdout()).toBe('');
  const { status } = await temporal.client.workflow.getHandle(`order:default:${orderId}`).describe();
  expect(status.name).toBe('RUNNING');
});
