import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type GrpcGate, openGrpcGate } from '../../scripts/temporal/grpc-gate.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId } from '../support/lab.js';
import { createTestNamespace, type TestNamespace } from '../support/temporal.js';
import { endProcesses, startProcess, temporalEnv } from '../worker/process.fixture.js';

let temporal: TestNamespace;
let gate: GrpcGate;
beforeAll(async () => {
  temporal = await createTestNamespace();
  gate = await openGrpcGate(temporal.address);
});
afterAll(async () => {
  await endProcesses();
  gate?.close();
  await temporal?.close();
});

const starter = (args: string[], stdin?: string) =>
  startProcess('src/starter.ts', temporalEnv(temporal), { args, stdin });

test.for([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s while a command waits says that the order continues, and leaves it alone', async ([signal, code]) => {
  const orderId = newOrderId('stopped');
  const input = JSON.stringify(orderInput('withdraw', orderId));
  const waiting = starter(['order', 'start', 'withdraw', '-', '--wait', '--json'], input);
  await vi.waitUntil(() => waiting.stderr().includes(`waiting for order ${orderId}`), { timeout: 60_000 });
  waiting.kill(signal);
  expect(await waiting.exited, waiting.stderr()).toBe(code);
  expect(waiting.stderr()).toContain(
    `order "${orderId}" continues without this command; never start it under another id. Where it stands: payment-orders order show ${orderId}`,
  );
  expect(waiting.stdout()).toBe('');
  const { status } = await temporal.client.workflow.getHandle(`order:default:${orderId}`).describe();
  expect(status.name).toBe('RUNNING');
});

test.for([
  ['StartWorkflowExecution', 'before Temporal has answered its start'],
  ['DescribeTaskQueue', 'between its start and the first line about it'],
] as const)('Ctrl-C %s: an order may have been started, and it is said how to look (%s)', async ([method]) => {
  const orderId = newOrderId('stopped');
  gate.loseAnswers(method);
  const environment = { ...temporalEnv(temporal), TEMPORAL_ADDRESS: gate.address };
  const args = ['order', 'start', 'withdraw', '-', '--wait'];
  const starting = startProcess('src/starter.ts', environment, {
    args,
    stdin: JSON.stringify(orderInput('withdraw', orderId)),
  });
  const handle = temporal.client.workflow.getHandle(`order:default:${orderId}`);
  await vi.waitFor(() => handle.describe(), { timeout: 60_000, interval: 100 });
  // It has gone on to the call whose answer does not come.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  starting.kill('SIGINT');
  expect(await starting.exited, starting.stderr()).toBe(130);
  expect(starting.stderr()).toContain(
    `order "${orderId}" may have been started; if so, it continues. The same command again is safe; never start it under another id. Where it stands: payment-orders order show ${orderId}`,
  );
  expect(starting.stdout()).toBe('');
});
