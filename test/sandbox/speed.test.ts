import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { Creates } from '../../sandbox/create.js';
import { Life } from '../../sandbox/life.js';
import { Service } from '../../sandbox/service.js';
import { sign } from '../../sandbox/signature.js';
import { createWorld, type World } from '../../sandbox/world.js';
import { BODIES } from './sandbox.fixture.js';

const SECOND_MS = 1_000;
/** Orders are created so many a second in the long lists. */
const PER_SECOND = 500;
const FIRST_MS = Date.UTC(2026, 0, 1);

/** A service without its server, and a way to ask it: the data of the answer. */
function openService() {
  const world = createWorld({ timeScale: 0.001 });
  const life = new Life(world, () => {});
  const creates = new Creates(world, life);
  const service = new Service(world, creates, life);
  onTestFinished(() => [life, creates].forEach((part) => void part.stop()));
  const { apiKey, apiSecret, signer } = world.options;
  const common = { 'content-type': 'application/json', accept: 'application/json; charset=utf-8', 'api-key': apiKey };
  const ask = (path: string, given: object): unknown => {
    const body = Buffer.from(JSON.stringify(given));
    const headers = { ...common, signature: sign(signer, body, apiSecret) };
    const { answer } = service.serve({ path: `/v2/order/${path}`, headers, body });
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`);
    return (answer.body as { data: unknown }).data;
  };
  return { world, ask };
}

/** Copies of one order, created one after the other. */
function fill({ store }: World, count: number): void {
  const [template] = store.orders.values();
  if (!template) throw new Error('nothing to copy');
  for (let n = 0; n < count; n += 1) {
    const key = `o${n}`;
    const order = { ...template.order, order_uuid: randomUUID(), user_order_id: key };
    store.keep({
      kind: 'order',
      order: { ...template, key, order, createdAtMs: FIRST_MS + (n * SECOND_MS) / PER_SECOND },
    });
  }
}

/** CPU milliseconds of one round. Not the time on the wall: others use the machine as well. */
function cpuMs(rounds: number, run: (n: number) => unknown): number {
  const before = process.cpuUsage();
  for (let n = 0; n < rounds; n += 1) run(n);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / rounds;
}

const dateAt = (ms: number) => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');

/** Look-ups whose answers have the same size, however many orders there are. */
const LOOK_UPS: [string, (ask: ReturnType<typeof openService>['ask'], n: number) => unknown][] = [
  ['status by id', (ask, n) => ask('status', { order_id: `o${n}` })],
  ['list of one id', (ask, n) => ask('list', { order_ids: [`o${n}`] })],
  ['list of 100 ids', (ask) => ask('list', { order_ids: Array.from({ length: 100 }, (_, n) => `o${n * 4}`) })],
  ['list of one second', (ask) => ask('list', { date_from: dateAt(FIRST_MS), date_to: dateAt(FIRST_MS), limit: 100 })],
  ['first page of all', (ask) => ask('list', { date_from: dateAt(FIRST_MS - SECOND_MS), limit: 100 })],
];

test('look-ups among 50,000 orders cost about what they cost among 500', () => {
  const costs = [500, 50_000].map((count) => {
    const { world, ask } = openService();
    ask('withdraw', { order_id: 'template', ...BODIES.withdraw });
    fill(world, count);
    return LOOK_UPS.map(([, look]) => {
      for (let n = 0; n < 20; n += 1) look(ask, n);
      return cpuMs(100, (n) => look(ask, n));
    });
  });
  const [few = [], many = []] = costs;
  for (const [index, [name]] of LOOK_UPS.entries()) {
    // Room for caches that no longer hold everything; whatever goes through all orders costs a hundred times as much.
    expect(many[index], `${name}: ${few[index]} ms, then ${many[index]} ms`).toBeLessThan(6 * (few[index] ?? 0) + 0.5);
  }
}, 60_000);

test('all pages of 50,000 orders have each order once', () => {
  const { world, ask } = openService();
  ask('withdraw', { order_id: 'template', ...BODIES.withdraw });
  fill(world, 50_000);
  const seen = new Set<string>();
  for (let page = 1; ; page += 1) {
    const items = ask('list', { limit: 1000, page }) as { order_uuid: string }[];
    for (const { order_uuid } of items) seen.add(order_uuid);
    if (items.length < 1000) break;
  }
  expect(seen.size).toBe(50_001);
}, 60_000);

test('2,000 withdraws with a probe and four look-ups each take less than a tenth of a core at 40 requests a second', () => {
  const { ask } = openService();
  const withdraw = (n: number) => {
    ask('list', { order_ids: [`w${n}`] });
    ask('withdraw', { order_id: `w${n}`, ...BODIES.withdraw });
    for (let look = 0; look < 3; look += 1) ask('status', { order_id: `w${n}` });
    ask('list', { order_ids: [`w${n}`] });
  };
  const requests = 6;
  expect(cpuMs(2_000, withdraw) / requests).toBeLessThan(0.1 * (SECOND_MS / 40));
}, 60_000);
