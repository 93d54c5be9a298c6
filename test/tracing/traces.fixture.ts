import type { Collector } from '../../scripts/trace/collector.js';
import { createTestNamespace, type TestNamespace } from '../support/temporal.js';
import {
  type Env,
  type Process,
  receiverEnv,
  startProcess,
  startSandboxProcess,
  temporalEnv,
  workerEnv,
} from '../worker/process.fixture.js';

/** What sends spans to a collector soon. */
export const tracedBy = (collector: Pick<Collector, 'url'>): Env => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  OTEL_BSP_SCHEDULE_DELAY: '200',
});

/** Receiver and worker in processes of their own, of a sandbox. */
export interface Installation {
  temporal: TestNamespace;
  env: Env;
  /** Starts another worker with these variables beside. */
  startWorker(more: Env): Promise<Process>;
  /** Ends receiver and workers, as a deploy does, so that what they have to send is sent; answers their exit codes. */
  stop(): Promise<(number | null)[]>;
}

/** Brings one up; `traced`: of receiver and worker. `more`: of the worker alone. */
export async function startInstallation(traced: Env = {}, more: Env = {}): Promise<Installation> {
  const temporal = await createTestNamespace();
  const env = temporalEnv(temporal);
  const { service } = await startSandboxProcess();
  const receiver = startProcess('src/receiver.ts', { ...receiverEnv(env, 0), ...traced });
  const { receiver: door } = await receiver.ready;
  const running = [receiver];
  const startWorker = async (variables: Env): Promise<Process> => {
    const worker = startProcess('src/worker.ts', { ...workerEnv(env, service, door), ...variables });
    running.push(worker);
    await worker.ready;
    return worker;
  };
  await startWorker({ ...traced, ...more });
  return {
    temporal,
    env,
    startWorker,
    stop: () => {
      const ending = running.splice(0);
      for (const each of ending) each.kill('SIGTERM');
      return Promise.all(ending.map(({ exited }) => exited));
    },
  };
}

/** Runs a command line to its end; `tookMs` from its start to its exit. */
export async function starter(env: Env, args: string[], input: object) {
  const fromMs = performance.now();
  const run = startProcess('src/starter.ts', env, { args, stdin: JSON.stringify(input) });
  const code = await run.exited;
  return { code, tookMs: performance.now() - fromMs, stdout: run.stdout(), stderr: run.stderr() };
}
