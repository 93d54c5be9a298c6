import type { RequestListener, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Gauge, type Registry } from 'prom-client';
import type { Monitoring } from '../config.js';
import { openPort, type Port } from '../http-port/port.js';
import { type Finding, nameOf } from '../preflight/findings.js';

/**
 * State of a process. `whyNotReady`: why it should get no work; undefined = ready. Never rejects.
 */
interface Shown {
  whyNotReady: () => Promise<string | undefined>;
  /** Findings to correct although the process is ready. Also shown as `payment_orders_check`. */
  findings?: () => readonly Finding[];
  registry: Registry;
}

/** Maximum age of metrics, so that a flood of scrapes shares one text. */
const METRICS_AGE_MS = 100;

/** Serves `/healthz`, `/readyz` and `/metrics`; undefined if no address is configured. */
export async function startMonitoring(address: Monitoring['metricsAddress'], shown: Shown): Promise<Port | undefined> {
  if (!address) return undefined;
  if (shown.findings) showFindings(shown.registry, shown.findings);
  let made = { atMs: Number.NEGATIVE_INFINITY, text: Promise.resolve('') };
  const metrics = (): Promise<string> => {
    const nowMs = performance.now();
    if (nowMs - made.atMs > METRICS_AGE_MS) made = { atMs: nowMs, text: shown.registry.metrics() };
    return made.text;
  };
  const handle: RequestListener = ({ method, url = '' }, response) => {
    const path = method === 'GET' || method === 'HEAD' ? url.split('?', 1)[0] : undefined;
    void answer(path, shown, metrics, response).catch(() => send(response, 500, 'failed\n'));
  };
  return openPort(handle, {}, address);
}

function showFindings(registry: Registry, findings: () => readonly Finding[]): void {
  new Gauge({
    name: 'payment_orders_check',
    help: 'what the last check of this worker found; no series where nothing has to be mended',
    labelNames: ['check', 'account', 'level'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { check, account = '', level } of findings()) {
        if (level !== 'note') this.set({ check, account, level }, 1);
      }
    },
  });
}

async function answer(
  path: string | undefined,
  shown: Shown,
  metrics: () => Promise<string>,
  response: ServerResponse,
): Promise<void> {
  if (path === '/healthz') send(response, 200, 'ok\n');
  else if (path === '/readyz') {
    const why = await shown.whyNotReady();
    const found = (shown.findings?.() ?? []).filter(({ level }) => level !== 'note');
    const lines = [why ?? 'ready', ...found.map((finding) => `${finding.level} ${nameOf(finding)}`)];
    send(response, why === undefined ? 200 : 503, `${lines.join('\n')}\n`);
  } else if (path === '/metrics') send(response, 200, await metrics(), shown.registry.contentType);
  else send(response, 404, 'not found\n');
}

const send = (response: ServerResponse, status: number, text: string, type = 'text/plain; charset=utf-8'): void =>
  void response.writeHead(status, { 'Content-Type': type }).end(text);

/** Maximum wait for Temporal in a readiness check. */
const DEADLINE_MS = 2_000;

/** Readiness checks within this time share one answer. */
const SHARED_MS = 1_000;

/** Common part of both kinds of Temporal connections. */
interface Asked {
  withDeadline<T>(deadline: number, ask: () => Promise<T>): Promise<T>;
  workflowService: { describeNamespace(request: { namespace: string }): Promise<unknown> };
}

/** Returns a check: why the namespace is unreachable, or undefined. It never rejects. */
export function temporalReachable(connection: Asked, namespace: string): () => Promise<string | undefined> {
  let last: { atMs: number; answer: Promise<string | undefined> } | undefined;
  return () => {
    const nowMs = performance.now();
    if (!last || nowMs - last.atMs > SHARED_MS) last = { atMs: nowMs, answer: ask(connection, namespace) };
    return last.answer;
  };
}

const NO_ANSWER = 'Temporal does not answer';

/** A failure's message may quote addresses and tokens, so it is not shown. */
async function ask(connection: Asked, namespace: string): Promise<string | undefined> {
  const answer = connection
    .withDeadline(Date.now() + DEADLINE_MS, () => connection.workflowService.describeNamespace({ namespace }))
    .then(
      () => undefined,
      () => NO_ANSWER,
    );
  // The client retries refused connections beyond the deadline.
  return Promise.race([answer, sleep(DEADLINE_MS, NO_ANSWER, { ref: false })]);
}
