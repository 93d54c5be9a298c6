import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test, vi } from 'vitest';
import { TemporalUnreachableError } from '../../src/client/errors.js';
import { PaymentOrders } from '../../src/client.js';
import { type Answer, EVENT_SECRET, startEventReceiver, status } from '../support/event-receiver.js';
import { orderInput } from '../support/inputs.js';
import { type Lab, newOrderId, openLab } from '../support/lab.js';
import { createTestNamespace } from '../support/temporal.js';
import { endProcesses, startProcess, startSandboxProcess, temporalEnv, workerEnv } from './process.fixture.js';

const ORDERS = 300;
const AT_A_TIME = 20;
const [DOWN_MS, KILL_EVERY_MS] = [120_000, 15_000];

afterAll(endProcesses);

/** Starts an order as a caller should: without an answer, the same call again. */
async function startSurely(orders: PaymentOrders, id: string): ReturnType<PaymentOrders['start']> {
  try {
    return await orders.start('withdraw', orderInput('withdraw', id));
  } catch (error) {
    if (!(error instanceof TemporalUnreachableError)) throw error;
    return startSurely(orders, id);
  }
}

/** Nothing is delivered: an error, a redirect, no answer at all, a cut connection. */
const DOWN: Answer[] = [
  status(500),
  status(302, { location: '/' }),
  () => undefined,
  (_, response) => void response.destroy(),
];
const down: Answer = (n, response, request) => DOWN[n % DOWN.length]?.(n, response, request);

test('300 orders, killed workers, a receiver that is down: each event comes, those of an order in order', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'events-'));
  const shop = await startEventReceiver('shop', down);
  const file = join(folder, 'events.json');
  const entry = { name: 'shop', url: shop.config.url.reveal(), secrets: [EVENT_SECRET], allowPrivate: true };
  await writeFile(file, JSON.stringify([entry]), { mode: 0o600 });
  const { service, stats } = await startSandboxProcess();
  const temporal = await createTestNamespace();
  const env = { ...workerEnv(temporalEnv(temporal), service), EVENTS_FILE: file };
  const newWorker = () => startProcess('src/worker.ts', env);
  let workers = [newWorker(), newWorker()];
  await Promise.all(workers.map(({ ready }) => ready));
  const orders = new PaymentOrders(temporal.client);
  const ids = Array.from({ length: ORDERS }, () => newOrderId('event'));
  const waiting = [...ids];
  const started: Awaited<ReturnType<typeof orders.start>>[] = [];
  const startSome = async (): Promise<void> => {
    for (let id = waiting.shift(); id; id = waiting.shift()) started.push(await startSurely(orders, id));
  };
  // What a killed worker had under way is sent again beside a later order that the service shows.
  const another = () => orders.start('withdraw', orderInput('withdraw', newOrderId('other')));
  const others = setInterval(() => void another().catch(() => undefined), 1_000);
  const downUntilMs = Date.now() + DOWN_MS;
  const starting = Promise.all(Array.from({ length: AT_A_TIME }, startSome));
  while (Date.now() < downUntilMs) {
    await sleep(KILL_EVERY_MS);
    const [killed, ...others] = workers;
    workers = [...others, newWorker()];
    killed?.kill('SIGKILL');
  }
  await starting;
  shop.answer = status(204);
  const outcomes = await Promise.all(started.map((handle) => handle.result().then(({ outcome }) => outcome)));
  clearInterval(others);
  expect(new Set(outcomes)).toEqual(new Set(['completed']));
  const sequencesOf = (orderId: string) =>
    shop.received.filter(({ event }) => event.data.order_id === orderId).map(({ event }) => event.data);
  const ended = () => ids.filter((id) => sequencesOf(id).some(({ outcome }) => outcome === 'completed')).length;
  await vi.waitFor(() => expect(ended()).toBe(ORDERS), { timeout: 240_000, interval: 2_000 });
  for (const id of ids) {
    const numbers = sequencesOf(id).map(({ sequence }) => sequence);
    const kinds = shop.received.flatMap(({ event }) => (event.data.order_id === id ? [event.type] : []));
    expect(numbers, id).toEqual(numbers.toSorted((a, b) => a - b));
    // Without a gap.
    expect([...new Set(numbers)], id).toEqual(Array.from({ length: Math.max(...numbers) }, (_, index) => index + 1));
    expect(kinds, id).toEqual(expect.arrayContaining(['order.created', 'order.final', 'order.ended']));
  }
  const { executedByOrderId } = await stats();
  expect(ids.filter((id) => executedByOrderId[id] !== 1)).toEqual([]);
  expect(shop.received.map(({ body }) => body).join()).not.toMatch(/wallet|description|client|@/);
  process.stdout.write(`${shop.received.length} posts for ${ORDERS} orders\n`);
  await shop.close();
  await rm(folder, { recursive: true });
}, 600_000);

const PAIRS = 60;

test('with a dead receiver no order is more than 5 % slower than without receivers', async () => {
  const dead = await startEventReceiver('dead', () => undefined);
  const plain = await openLab();
  const told = await openLab({ receivers: [dead.config] });
  /** Milliseconds from the start to the result of an order that the service executes in a second. */
  const duration = async ({ orders }: Lab): Promise<number> => {
    const fromMs = performance.now();
    const input = orderInput('withdraw', newOrderId('pace'), { marker: 'after_ms=1000' });
    await (await orders.start('withdraw', input)).result();
    return performance.now() - fromMs;
  };
  const times: { plain: number; told: number }[] = [];
  // In pairs and in turn, so that other load of this machine meets both.
  for (let pair = 0; pair < PAIRS; pair += 1) {
    const [one, other] = pair % 2 ? [plain, told] : [told, plain];
    const first = await duration(one);
    const second = await duration(other);
    times.push(pair % 2 ? { plain: first, told: second } : { told: first, plain: second });
  }
  const ratios = times.slice(5).map((pair) => pair.told / pair.plain);
  const median = ratios.toSorted((a, b) => a - b)[Math.floor(ratios.length / 2)] ?? 0;
  process.stdout.write(`events: ${median.toFixed(3)} times the duration of an order without receivers\n`);
  expect(median).toBeLessThanOrEqual(1.05);
  await Promise.all([plain.close(), told.close(), dead.close()]);
}, 600_000);
