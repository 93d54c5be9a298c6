import { createSecretKey, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { execa } from 'execa';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type DevServer, startDevServer } from '../../scripts/temporal/dev-server.js';
import { PaymentOrders } from '../../src/client.js';
import { callbackUrl } from '../../src/contract/callback-url.js';
import { countVisible } from '../../src/monitoring/visibility.js';
import { dataConverter } from '../../src/temporal.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId } from '../support/lab.js';
import {
  endProcesses,
  type Process,
  receiverEnv,
  startProcess,
  startSandboxProcess,
  TOKEN_KEY,
  temporalEnv,
  workerEnv,
} from '../worker/process.fixture.js';
import { firesIn, hasPromtool, type Scrape, type Stage } from './promtool.fixture.js';
import { parsed, scrape, sumOf } from './scrape.fixture.js';

const WITH_PROMTOOL = await hasPromtool();
const METRICS = { METRICS_ADDRESS: '127.0.0.1:0' };
const REQUESTS = 'payment_service_request_seconds_count';

let folder: string;
let server: DevServer;
let connection: Connection;
let stopCounting: () => void;
const registry = new Registry();
const running: Record<string, { url: string; process: Process } | undefined> = {};

const env = () => ({ ...temporalEnv(server), ...METRICS });
const client = (converter = {}) => new Client({ connection, namespace: server.namespace, ...converter });
const orders = () => new PaymentOrders(client());
const serve = (port?: number) =>
  startDevServer({ log: () => undefined, dbFile: join(folder, 'temporal.db'), ...(port && { port }) });

async function run(job: 'worker' | 'receiver', environment: Record<string, string>): Promise<Record<string, string>> {
  const process = startProcess(`src/${job}.ts`, environment);
  const ready = await process.ready;
  running[job] = { url: ready.metrics ?? '', process };
  return ready;
}

async function end(job: 'worker'): Promise<void> {
  running[job]?.process.kill('SIGKILL');
  await running[job]?.process.exited;
}

/** What a Prometheus that scrapes all processes would hold now; the counts of Temporal's list are made twice a second here. */
async function now(): Promise<Scrape> {
  const all = new Map<string, number>();
  for (const [job, { url } = { url: '' }] of Object.entries(running)) {
    const series = await scrape(url).catch(() => undefined);
    all.set(`up{job="payment-orders-${job}",instance="${job}"}`, series ? 1 : 0);
    for (const [key, value] of series ?? []) all.set(key, value);
  }
  for (const [key, value] of parsed(await registry.metrics())) all.set(key, value);
  return { atMs: Date.now(), series: all };
}

/** Scrapes twice, `until` the second shows what is looked for. */
async function stage(until: (last: Scrape, first: Scrape) => boolean = () => true, ms = 3_000): Promise<Stage> {
  const first = await now();
  await sleep(ms);
  let last = await now();
  for (const from = Date.now(); !until(last, first); last = await now()) {
    if (Date.now() - from > 90_000) throw new Error('the state did not come');
    await sleep(500);
  }
  return [first, last];
}

const grown =
  (name: string, labels: Record<string, string> = {}) =>
  (last: Scrape, first: Scrape): boolean =>
    sumOf(last.series, name, labels) > sumOf(first.series, name, labels);

const is =
  (name: string, labels: Record<string, string>, holds: (value: number) => boolean) =>
  ({ series }: Scrape): boolean =>
    holds(sumOf(series, name, labels));

beforeAll(async () => {
  if (!WITH_PROMTOOL) return;
  folder = await mkdtemp(join(tmpdir(), 'payment-orders-alerts-'));
  server = await serve();
  connection = await Connection.connect({ address: server.address });
  stopCounting = countVisible(client(), registry, 500);
});
afterAll(async () => {
  stopCounting?.();
  await endProcesses();
  await server?.stop();
  if (folder) await rm(folder, { recursive: true, force: true });
});

test('every alert has its entry in the runbook', async () => {
  const rules = await readFile('deploy/monitoring/alerts.yml', 'utf8');
  const runbook = await readFile('docs/runbook.md', 'utf8');
  const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);
  const entries = [...runbook.matchAll(/^## (\w+)$/gm)].map(([, name = '']) => name);
  expect(alerts.length).toBeGreaterThan(5);
  expect(entries).toEqual(alerts);
  for (const name of alerts) expect(rules).toContain(`runbook_url: docs/runbook.md#${name.toLowerCase()}`);
});

test('rules and dashboard name no metric that docs/monitoring.md does not', async () => {
  const page = await readFile('docs/monitoring.md', 'utf8');
  const texts = await Promise.all(
    ['alerts.yml', 'dashboard.json'].map((name) => readFile(`deploy/monitoring/${name}`, 'utf8')),
  );
  const names = new Set(texts.join('').match(/\b(payment|temporal)_[a-z_]+\b/g));
  expect(names.size).toBeGreaterThan(8);
  const plain = [...names].map((name) => name.replace(/_seconds_(count|bucket)$/, '_seconds'));
  expect(plain.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

test.skipIf(!WITH_PROMTOOL)('the rules are valid', async () => {
  const { stdout } = await execa('promtool', ['check', 'rules', 'deploy/monitoring/alerts.yml']);
  expect(stdout).toContain('SUCCESS');
});

test.skipIf(!WITH_PROMTOOL)(
  'each alert fires on what real processes show, and clears again',
  { timeout: 600_000 },
  async () => {
    const found: Record<string, string> = {};
    const check = async (alert: string, ...stages: readonly [Stage, Stage, Stage]): Promise<void> => {
      found[alert] = await firesIn(alert, stages);
      expect.soft(found[alert], alert).toBe('');
    };
    const sandbox = await startSandboxProcess();
    const { receiver: door = '' } = await run('receiver', receiverEnv(env(), 0));
    const ofWorker = {
      ...workerEnv(env(), sandbox.service),
      ORDER_SETTLE_WINDOW: '8s',
      PAYMENT_ORDER_CAPS: '{"usd": "10"}',
    };
    await run('worker', ofWorker);
    const calm = await stage(is('payment_orders_counted_timestamp_seconds', {}, (at) => at > 0));

    // What does not fire is told: otherwise all below would prove nothing.
    expect(await firesIn('PaymentOrdersStopped', [calm, calm, calm])).toContain('FAILED');

    const capped = await orders().start('withdraw', orderInput('withdraw', newOrderId('capped')));
    const waits = await stage(is('payment_orders_attention', { reason: 'over-cap' }, (count) => count > 0));
    const { revision } = await capped.state();
    await capped.decide({ action: 'refuse', by: 'ann', reason: 'a test', revision });
    const decided = await stage(is('payment_orders_attention', {}, (count) => count === 0));
    await check('PaymentOrdersNeedAttention', calm, waits, decided);
    await check('PaymentAttentionLasts', calm, waits, decided);

    const open = { marker: 'create=500-before' };
    await orders().start('deposit', orderInput('deposit', newOrderId('unclear'), open));
    const unclear = { status: 'uncertain' };
    const uncertain = await stage(is('payment_orders_open', unclear, (count) => count > 0));
    const settled = await stage(is('payment_orders_open', unclear, (count) => count === 0));
    await check('PaymentOrdersUncertain', calm, uncertain, settled);

    const lost = await orders().start(
      'deposit',
      orderInput('deposit', newOrderId('lost'), { marker: 'after_ms=600000' }),
    );
    await client().workflow.getHandle(lost.workflowId).terminate('a test');
    const stopped = await stage(is('payment_orders_stopped', {}, (count) => count > 0));
    // As after the namespace's retention.
    const gone = { namespace: server.namespace, workflowExecution: { workflowId: lost.workflowId } };
    await connection.workflowService.deleteWorkflowExecution(gone);
    const forgotten = await stage(is('payment_orders_stopped', {}, (count) => count === 0));
    await check('PaymentOrdersStopped', calm, stopped, forgotten);

    const encryptionKeys = [{ id: 'zz', key: createSecretKey(randomBytes(32)) }];
    const strange = new PaymentOrders(client({ dataConverter: dataConverter({ encryptionKeys }) }));
    const unread = await strange.start('deposit', orderInput('deposit', newOrderId('unread')));
    const failing = await stage(grown('temporal_workflow_task_execution_failed'));
    await client().workflow.getHandle(unread.workflowId).terminate('a test');
    await sleep(15_000);
    const still = await stage();
    await check('PaymentWorkflowTasksFail', calm, failing, still);

    await end('worker');
    const down = await stage();
    await run('worker', { ...ofWorker, PAYMENT_API_SECRET: 'another-secret' });
    await orders().start('deposit', orderInput('deposit', newOrderId('unsigned')));
    const refused = await stage(grown(REQUESTS, { answer: '401' }));
    await end('worker');
    const misspelt = { PAYMENT_ORDER_CAPS: '{"usd": "10", "uds": "10"}' };
    await run('worker', { ...ofWorker, ...misspelt, PAYMENT_REQUESTS_PER_SECOND: '20' });
    const back = await stage(grown(REQUESTS, { answer: '200' }));
    await check('PaymentProcessDown', calm, down, back);
    await check('PaymentKeyRefused', calm, refused, back);
    await check('PaymentCheckFailed', calm, refused, back);

    await vi.waitFor(async () => {
      expect(sumOf((await now()).series, 'payment_service_limit_requests_per_second')).toBeGreaterThan(3);
    }, 60_000);
    const many = Array.from({ length: 150 }, () => newOrderId('many'));
    await Promise.all(
      many.map((id) => orders().start('deposit', orderInput('deposit', id, { marker: 'after_ms=600000' }))),
    );
    const busy = await stage(grown(REQUESTS), 10_000);
    await end('worker');
    await run('worker', ofWorker);
    const unlimited = await stage(grown(REQUESTS, { answer: '200' }));
    await check('PaymentLimitUsedUp', calm, busy, unlimited);
    await check('PaymentCheckWarns', calm, busy, unlimited);

    const port = Number(new URL(sandbox.service).port);
    sandbox.sandbox.kill('SIGKILL');
    await sandbox.sandbox.exited;
    const broken = await stage(grown(REQUESTS, { answer: 'not_sent' }), 6_000);
    const again = { SANDBOX_PORT: `${port}`, SANDBOX_ADMIN_PORT: '0', SANDBOX_TIME_SCALE: '0.2' };
    await startProcess('sandbox/main.ts', again).ready;
    await sleep(3_000);
    const mended = await stage((last, first) => !grown(REQUESTS, { answer: 'not_sent' })(last, first));
    await check('PaymentServiceFails', calm, broken, mended);

    const address = Number(server.address.split(':').at(-1));
    await server.stop();
    const url = callbackUrl(door, TOKEN_KEY, { kind: 'order', account: 'default', orderId: 'late' });
    const callBack = () => fetch(url, { method: 'POST', body: JSON.stringify({ order_id: 'late' }) });
    await callBack();
    await sleep(3_000);
    const [before] = await stage();
    await callBack();
    const cut: Stage = [before, await now()];
    server = await serve(address);
    await vi.waitFor(async () => expect((await callBack()).status).toBe(200), 60_000);
    const answering = await stage(grown('payment_orders_counted_timestamp_seconds'));
    await check('PaymentCallbacksNotTaken', calm, cut, answering);
    await check('PaymentCountsStale', calm, cut, answering);

    expect(Object.keys(found)).toHaveLength(13);
  },
);
