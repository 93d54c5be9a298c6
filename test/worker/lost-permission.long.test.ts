import { expect, onTestFinished, test } from 'vitest';
import { openGrpcGate } from '../../scripts/temporal/grpc-gate.js';
import { oldNodeWarning } from '../../src/preflight/node.js';
import { startProcess, startSandboxProcess, temporalEnv, useProcesses, workerEnv } from './process.fixture.js';

const temporal = useProcesses();

test('a healthy start warns of its namespace alone, and a worker whose polls Temporal refuses ends and says why', async () => {
  const { service } = await startSandboxProcess();
  const gate = await openGrpcGate(temporal.address);
  onTestFinished(gate.close);
  const env = temporalEnv({ address: gate.address, namespace: temporal.namespace });
  const worker = startProcess('src/worker.ts', workerEnv(env, service));
  await worker.ready;
  const entries = () =>
    worker
      .stderr()
      .trim()
      .split('\n')
      .flatMap((line) => (line.startsWith('{') ? JSON.parse(line) : []));
  const grave = (level: number) => entries().filter((entry) => entry.level === level);
  expect(grave(40).map(({ check }) => check)).toEqual(['retention', ...(oldNodeWarning() ? ['node'] : [])]);

  gate.refusePolls();
  // The SDK gives what is on the way a minute. Then it takes the refusal for lasting, now or a minute later.
  expect(await worker.exited).toBe(1);
  const [words = '', ...others] = worker
    .stderr()
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('{'));
  expect(words).toMatch(/^Error: a worker failed: .* No order is lost/);
  expect(others).toEqual([]);
  const failed = entries().find(({ msg }) => msg === 'Worker failed');
  expect(failed).toMatchObject({ level: 50, taskQueue: 'payment-orders', error: { message: 'taken back' } });
});
