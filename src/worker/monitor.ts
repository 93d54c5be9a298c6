import { Client } from '@temporalio/client';
import { MetricsBuffer, type NativeConnection, type Worker } from '@temporalio/worker';
import { Gauge, Histogram, Registry } from 'prom-client';
import type { Account } from '../activities/index.js';
import type { Monitoring } from '../config.js';
import { SdkMetrics } from '../monitoring/sdk-metrics.js';
import { startMonitoring, temporalReachable } from '../monitoring/server.js';
import { countVisible } from '../monitoring/visibility.js';
import { type Answered, answers } from '../payment-service/answers.js';
import type { Finding } from '../preflight/findings.js';
import { installLogger } from './log.js';

/** Interval of copying the SDK's counts. The buffer holds some seconds of the busiest worker. */
const DRAIN_MS = 1_000;
const BUFFERED = 100_000;

/** Parts of a running worker process. */
export interface Running {
  connection: NativeConnection;
  namespace: string;
  workers: readonly Worker[];
  accounts: ReadonlyMap<string, Account>;
  /** Findings of the last check. */
  findings: () => readonly Finding[];
}

/** Installs the SDK's logs and metrics, before anything else of it; `start` serves them, and answers how to stop. */
export function createMonitor({ logLevel, metricsAddress }: Monitoring = { logLevel: 'info' }) {
  const buffer = metricsAddress && new MetricsBuffer({ maxBufferSize: BUFFERED, useSecondsForDurations: true });
  installLogger(logLevel, buffer);
  const registry = new Registry();
  return {
    async start(running: Running): Promise<{ url?: string; stop: () => Promise<void> }> {
      if (!buffer) return { stop: async () => undefined };
      const { connection, namespace, workers, accounts, findings } = running;
      const reachable = temporalReachable(connection, namespace);
      const whyNotReady = async () =>
        workers.every((worker) => worker.getState() === 'RUNNING') ? reachable() : 'not polling';
      const server = await startMonitoring(metricsAddress, { whyNotReady, findings, registry });
      const sdk = new SdkMetrics(buffer, registry, accounts);
      const timer = setInterval(() => sdk.drain(), DRAIN_MS).unref();
      const stopCounting = countAll(registry, new Client({ connection, namespace }), accounts);
      const stop = async (): Promise<void> => {
        clearInterval(timer);
        stopCounting();
        await server?.close();
      };
      return { url: server?.url, stop };
    },
  };
}

const REQUEST_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20];

/** Counts requests and what Temporal's list shows, and shows each limit. Returns how to stop. */
function countAll(registry: Registry, client: Client, accounts: Running['accounts']): () => void {
  const registers = [registry];
  const requests = new Histogram({
    name: 'payment_service_request_seconds',
    help: 'requests to the payment service, without the wait for their turn',
    labelNames: ['account', 'operation', 'answer'],
    buckets: REQUEST_SECONDS,
    registers,
  });
  new Gauge({
    name: 'payment_service_limit_requests_per_second',
    help: "this worker's part of the account's limit now; no series without a limit",
    labelNames: ['account'],
    registers,
    collect() {
      this.reset();
      for (const [account, { limiter }] of accounts) {
        if (limiter && limiter.intervalMs > 0) this.set({ account }, 1_000 / limiter.intervalMs);
      }
    },
  });
  const count = (message: unknown): void => {
    const { account, operation, answer, seconds } = message as Answered;
    requests.observe({ account, operation, answer }, seconds);
  };
  answers.subscribe(count);
  const stop = countVisible(client, registry);
  return () => {
    answers.unsubscribe(count);
    stop();
  };
}
