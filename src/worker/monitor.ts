import type { NativeConnection, Worker } from '@temporalio/worker';
import { MetricsBuffer } from '@temporalio/worker';
import { Registry } from 'prom-client';
import type { Account } from '../activities/index.js';
import type { Monitoring } from '../config.js';
import { temporalReachable } from '../monitoring/reachable.js';
import { SdkMetrics } from '../monitoring/sdk-metrics.js';
import { startMonitoring } from '../monitoring/server.js';
import { installLogger } from './log.js';

/** What was counted is taken over so often; the buffer holds some seconds of the busiest worker. */
const DRAIN_MS = 1_000;
const BUFFERED = 100_000;

/** What runs in a worker process. */
export interface Running {
  connection: NativeConnection;
  namespace: string;
  workers: readonly Worker[];
  accounts: ReadonlyMap<string, Account>;
}

/** Installs the SDK's logs and metrics, before anything else of it; `start` serves them, and answers how to stop. */
export function createMonitor({ logLevel, metricsAddress }: Monitoring = { logLevel: 'info' }) {
  const buffer = metricsAddress && new MetricsBuffer({ maxBufferSize: BUFFERED, useSecondsForDurations: true });
  installLogger(logLevel, buffer);
  const registry = new Registry();
  return {
    registry,
    async start({ connection, namespace, workers }: Running): Promise<{ url?: string; stop: () => Promise<void> }> {
      const reachable = temporalReachable(connection, namespace);
      const whyNotReady = async () =>
        workers.every((worker) => worker.getState() === 'RUNNING') ? reachable() : 'not polling';
      const server = await startMonitoring(metricsAddress, { whyNotReady, registry });
      const sdk = buffer && new SdkMetrics(buffer, registry);
      const timer = sdk && setInterval(() => sdk.drain(), DRAIN_MS).unref();
      const stop = async (): Promise<void> => {
        clearInterval(timer);
        await server?.close();
      };
      return { ...(server && { url: server.url }), stop };
    },
  };
}
