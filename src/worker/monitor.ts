import { Client } from '@temporalio/client';
import type { MetricTags } from '@temporalio/common';
import { MetricsBuffer, type NativeConnection, type Worker } from '@temporalio/worker';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Account } from '../activities/index.js';
import type { Monitoring } from '../config.js';
import * as names from '../contract/names.js';
import { ORDER_TYPES, workflowTypeOf } from '../contract/order/types.js';
import { startMonitoring, temporalReachable } from '../monitoring/server.js';
import { countVisible } from '../monitoring/visibility.js';
import { type Answered, answers } from '../payment-service/answers.js';
import type { Finding } from '../preflight/findings.js';
import { installLogger } from './log.js';

/** Interval of copying the SDK's counts. The buffer holds some seconds of the busiest worker. */
const DRAIN_MS = 1_000;
const BUFFERED = 100_000;

/** Parts of a running worker process. */
interface Running {
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
  new Gauge({
    name: 'payment_service_stopped',
    help: '1: this worker sends no create of the account, as it saw at its last send or look',
    labelNames: ['account'],
    registers,
    collect() {
      for (const [account, { stops }] of accounts) this.set({ account }, stops?.lastWhy === undefined ? 0 : 1);
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

type Update = ReturnType<MetricsBuffer['retrieveUpdates']> extends ArrayIterator<infer U> ? U : never;

/** Seconds: from requests within a data centre to orders that end after days. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 60, 300, 900, 3_600, 21_600, 86_400];

/** A caller may start a workflow under any type name. */
const OUR_TYPES: ReadonlySet<unknown> = new Set([
  ...ORDER_TYPES.map(workflowTypeOf),
  ...Object.entries(names).flatMap(([name, value]) => (name.endsWith('_WORKFLOW') ? [value] : [])),
]);

/** Returns a name in Prometheus' form: underscores for dots and dashes. */
const plain = (name: string): string => name.replace(/[^a-zA-Z0-9_]/g, '_');

const labelsOf = (tags: MetricTags): Record<string, string> =>
  Object.fromEntries(Object.entries(tags).map(([name, value]) => [plain(name), String(value)]));

/** Copies the SDK's counts into the registry. A metric keeps the labels of its first update. */
export class SdkMetrics {
  readonly #known = new Map<string, { take: (update: Update) => void }>();

  constructor(
    private readonly buffer: MetricsBuffer,
    private readonly registry: Registry,
    private readonly accounts: ReadonlyMap<string, unknown>,
  ) {}

  /** Copies what was counted since the last call. */
  drain(): void {
    for (const update of this.buffer.retrieveUpdates()) this.#of(update).take(update);
  }

  #of({ metric: { name, kind, description }, attributes }: Update): { take: (update: Update) => void } {
    const shown = plain(name);
    const known = this.#known.get(shown);
    if (known) return known;
    const labelNames = Object.keys(labelsOf(attributes));
    const config = { name: shown, help: description || name, labelNames, registers: [this.registry] };
    const made = seriesOf(kind, config);
    const take = ({ attributes: tags, value }: Update): void => {
      const all = labelsOf(tags);
      // A caller chooses these names freely, so they are not bounded.
      if (all.account !== undefined && !this.accounts.has(all.account)) all.account = 'other';
      if (all.workflow_type !== undefined && !OUR_TYPES.has(all.workflow_type)) all.workflow_type = 'other';
      const labels = Object.fromEntries(labelNames.map((label) => [label, all[label] ?? '']));
      made(labels, value);
    };
    this.#known.set(shown, { take });
    return { take };
  }
}

interface Config {
  name: string;
  help: string;
  labelNames: string[];
  registers: Registry[];
}

function seriesOf(
  kind: Update['metric']['kind'],
  config: Config,
): (labels: Record<string, string>, value: number) => void {
  if (kind === 'counter') {
    const counter = new Counter(config);
    return (labels, value) => counter.inc(labels, value);
  }
  if (kind === 'histogram') {
    const histogram = new Histogram({ ...config, buckets: SECONDS });
    return (labels, value) => histogram.observe(labels, value);
  }
  const gauge = new Gauge(config);
  return kind === 'gauge' ? (labels, value) => gauge.set(labels, value) : (labels, value) => gauge.inc(labels, value);
}
