import { beforeAll, describe, expect, test, vi } from 'vitest';
import { orderInput } from '../support/inputs.js';
import { newOrderId } from '../support/lab.js';
import { encryptedWorkflowBundle } from '../support/temporal.js';
import {
  receiverEnv,
  startProcess,
  startSandboxProcess,
  temporalEnv,
  useProcesses,
  workerEnv,
} from '../worker/process.fixture.js';
import { foundIn, keyOf, readStoredBytes } from './stored-bytes.fixture.js';

// Nine processes, each of which compiles its sources.
vi.setConfig({ testTimeout: 120_000 });

const KEYS = { PAYLOAD_ENCRYPTION_KEYS: `2026-11:${keyOf('a').key.export().toString('base64')}` };

const temporal = useProcesses();
// For the worker process, which would bundle for itself.
beforeAll(async () => void (await encryptedWorkflowBundle()));

describe('worker, receiver, starter and codec endpoint with a key', () => {
  test('bring an order to its end, and only the endpoint shows what Temporal stores', async () => {
    const env = { ...temporalEnv(temporal), ...KEYS };
    const { service } = await startSandboxProcess();
    const receiver = startProcess('src/receiver.ts', { ...receiverEnv(env, 0), ...KEYS });
    const { receiver: callbacks = '' } = await receiver.ready;
    const worker = startProcess('src/worker.ts', { ...workerEnv(env, service, callbacks), ...KEYS });
    const codec = startProcess('src/codec.ts', { ...KEYS, CODEC_ADDRESS: '127.0.0.1:0' });
    const { codec: codecUrl = '' } = await codec.ready;
    await worker.ready;

    const orderId = newOrderId('encrypted');
    const wallet = '4111111111111111';
    const completes = startProcess('src/starter.ts', env, {
      args: ['order', 'start', 'withdraw', '-', '--wait', '--json'],
      stdin: JSON.stringify(orderInput('withdraw', orderId)),
    });
    const refusedId = `${orderId}-refused`;
    const input = orderInput('withdraw', refusedId);
    const refused = startProcess('src/starter.ts', env, {
      args: ['order', 'start', 'withdraw', '-', '--wait', '--json'],
      stdin: JSON.stringify({ ...input, order: { ...input.order, amount: '99999999' } }),
    });
    expect(await completes.exited, completes.stderr()).toBe(0);
    // The worker's failures reach whoever has the key.
    expect(await refused.exited).toBe(2);
    expect(refused.stdout()).toContain('above max_amount_from');
    const { histories } = await readStoredBytes(temporal.client);
    expect(foundIn(histories, [wallet, 'above max_amount_from', 'Encoded failure'])).toEqual(['Encoded failure']);

    const { history } = await temporal.client.workflowService.getWorkflowExecutionHistory({
      namespace: temporal.namespace,
      execution: { workflowId: `order:default:${orderId}` },
    });
    const stored = history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0];
    const base64 = (bytes?: Uint8Array | null) => Buffer.from(bytes ?? []).toString('base64');
    const metadata = Object.entries(stored?.metadata ?? {}).map(([name, bytes]) => [name, base64(bytes)]);
    const answer = await fetch(`${codecUrl}/decode`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ payloads: [{ metadata: Object.fromEntries(metadata), data: base64(stored?.data) }] }),
    });
    const { payloads } = (await answer.json()) as { payloads: { data: string }[] };
    expect(Buffer.from(payloads[0]?.data ?? '', 'base64').toString()).toContain(`"wallet":"${wallet}"`);

    const without = startProcess('src/starter.ts', temporalEnv(temporal), { args: ['order', 'show', orderId] });
    // Undecided: nothing is known about the order, and it must not be started under another id.
    expect(await without.exited).toBe(4);
    expect(without.stderr()).toContain('not in PAYLOAD_ENCRYPTION_KEYS');
    for (const running of [worker, receiver, codec]) {
      running.kill('SIGTERM');
      expect(await running.exited, running.stderr()).toBe(0);
    }
  });
});
