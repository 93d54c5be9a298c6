import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type GrpcGate, openGrpcGate } from '../../scripts/temporal/grpc-gate.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId } from '../support/lab.js';
import { startProcess, temporalEnv, useProcesses } from '../worker/process.fixture.js';

let gate: GrpcGate;
afterAll(() => gate?.close());
const temporal = useProcesses();
beforeAll(async () => {
  gate = await openGrpcGate(temporal.address);
});

test.for<[signal: 'SIGINT' | 'SIGTERM', options: string[], losesAnswersOf: string | undefined, says: string]>([
  ['SIGINT', ['--wait', '--json'], undefined, 'continues without this command; never start it under another id'],
  ['SIGTERM', ['--wait', '--json'], undefined, 'continues without this command; never start it under another id'],
  ['SIGINT', [], 'StartWorkflowExecution', 'the order may have been started: the same command again is safe'],
  ['SIGINT', [], 'DescribeTaskQueue', 'the order may have been started: the same command again is safe'],
])(
  '%s, %j, without answers of %s: stderr says what goes on before it is stopped',
  async ([signal, options, method, says]) => {
    const orderId = newOrderId('stopped');
    if (method) gate.loseAnswers(method);
    const environment = { ...temporalEnv(temporal), ...(method && { TEMPORAL_ADDRESS: gate.address }) };
    const args = ['order', 'start', 'withdraw', '-', ...options];
    const stdin = JSON.stringify(orderInput('withdraw', orderId));
    const starting = startProcess('src/starter.ts', environment, { args, stdin });
    const handle = temporal.client.workflow.getHandle(`order:default:${orderId}`);
    await vi.waitFor(() => handle.describe(), { timeout: 60_000, interval: 100 });
    await vi.waitUntil(() => starting.stderr().includes(says), { timeout: 60_000 });
    starting.kill(signal);
    // Null: ended by the signal.
    expect(await starting.exited, starting.stderr()).toBe(null);
    expect(starting.stderr()).toContain(`order "${orderId}"`);
    expect(starting.stdout()).toBe('');
    expect((await handle.describe()).status.name).toBe('RUNNING');
  },
);
