import { expect, onTestFinished, test, vi } from 'vitest';
import { openGrpcGate } from '../../scripts/temporal/grpc-gate.js';
import { oldNodeWarning } from '../../src/preflight/node.js';
import { startProcess, startSandboxProcess, temporalEnv, useProcesses, workerEnv } from './process.fixture.js';

const temporal = useProcesses();

test('a healthy start warns of its namespace alone, and a worker whose polls Temporal refuses says why', async () => {
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
      .map((line) => JSON.parse(line));
  const grave = (level: number) => entries().filter((entry) => entry.level === level);
  expect(grave(40).map(({ check }) => check)).toEqual(['retention', ...(oldNodeWarning() ? ['node'] : [])]);

  gate.refusePolls();
  // The SDK gives what is on the way a minute, and then waits a minute more until it calls it lasting.
  const ofPolls = () => grave(40).filter(({ msg }) => /^Task polling has encountered errors/.test(msg));
  await vi.waitFor(() => expect(ofPolls()).not.toEqual([]), { timeout: 240_000, interval: 1_000 });
  expect(ofPolls()[0]).toMatchObject({ cause: 'taken back' });
  worker.kill('SIGTERM');
  expect(await worker.exited).toBe(0);
});
