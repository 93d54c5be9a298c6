import { describe, expect, onTestFinished, test } from 'vitest';
import { type Sandbox, type SettingsChange, startSandbox } from '../../../sandbox/index.js';
import { GroupedLookUps } from '../../../src/activities/order/grouped-look-ups.js';
import type { Order } from '../../../src/contract/service-objects.js';
import { createPaymentService } from '../../../src/payment-service/client.js';
import { loadSigner } from '../../../src/payment-service/signers.js';
import { call, create, headersFor } from '../../sandbox/sandbox.fixture.js';
import { ServiceGate } from '../../support/service-gate.js';

const numbered = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix}-${n}`);

const OURS = numbered('ours', 40);
/** They exist although we did not make them. */
const THERE = numbered('there', 6);
const NEW = numbered('new', 6);

async function openSandbox(settings: SettingsChange = {}): Promise<Sandbox> {
  const sandbox = await startSandbox({ settings: { callbacks: { enabled: false }, ...settings } });
  onTestFinished(() => sandbox.close());
  return sandbox;
}

async function make(sandbox: Sandbox, ids: readonly string[]): Promise<Order[]> {
  const orders: Order[] = [];
  for (const id of ids) orders.push((await create(sandbox, 'withdraw', id)).body.data as unknown as Order);
  return orders;
}

/** Look-ups of an account behind a gate, which knows 40 orders of its own; 6 others are there as well. */
async function open({ mostWaiting = 1_000 } = {}) {
  const sandbox = await openSandbox();
  const gate = new ServiceGate(sandbox.url);
  await gate.open();
  onTestFinished(() => gate.shut());
  const { apiKey, apiSecret } = sandbox;
  const sign = await loadSigner('hmac-sha256');
  const service = createPaymentService({ baseUrl: gate.url, apiKey, apiSecret, sign });
  const lookUps = new GroupedLookUps(service, { mostWaiting, lagMs: 0 });
  await make(sandbox, THERE);
  const ours = await make(sandbox, OURS);
  for (const order of ours) lookUps.noteCreated(order, Date.now());
  /** What each id is told: the number of orders under it, or that it has to ask alone. */
  const probe = async (ids: readonly string[]) => {
    const told = (id: string) =>
      lookUps.probe<number | 'alone'>(
        id,
        { patienceMs: 50 },
        { shown: (items) => items.length, alone: async () => 'alone' },
      );
    // The first one of all waits for nobody.
    const [, ...answers] = await Promise.all(['first', ...ids].map(told));
    return Object.fromEntries(ids.map((id, index) => [id, answers[index]]));
  };
  const lists = () => gate.requests.filter((r) => r.path.endsWith('/list'));
  return { sandbox, gate, service, lookUps, ours, probe, lists };
}

const all = (ids: readonly string[], told: number | 'alone') => Object.fromEntries(ids.map((id) => [id, told]));

describe('probes that one request answers', () => {
  test('what is there is found, and what is not is absent', async () => {
    const { probe, lists } = await open();
    expect(await probe([...THERE, ...NEW])).toEqual({ ...all(THERE, 1), ...all(NEW, 0) });
    // The first showed how many orders the list shows at once.
    expect(lists()).toHaveLength(2);
    expect(await probe(numbered('more', 20))).toEqual(all(numbered('more', 20), 0));
    expect(lists()).toHaveLength(3);
  });

  test('a list in random order says the same', async () => {
    const { sandbox, probe } = await open();
    sandbox.set({ listOrder: 'random' });
    expect(await probe([...THERE, ...NEW])).toEqual({ ...all(THERE, 1), ...all(NEW, 0) });
  });

  test('without an order that is known to exist each asks alone', async () => {
    const { service, lists } = await open();
    const lookUps = new GroupedLookUps(service, { lagMs: 0 });
    const ways = { shown: () => 'shown', alone: async () => 'alone' };
    const told = await Promise.all(NEW.map((id) => lookUps.probe(id, { patienceMs: 50 }, ways)));
    expect(new Set(told)).toEqual(new Set(['alone']));
    expect(lists()).toHaveLength(0);
  });

  test('an order that was just made is no sentinel yet', async () => {
    const { sandbox, service, lists } = await open();
    const lookUps = new GroupedLookUps(service, { lagMs: 2_000 });
    for (const order of await make(sandbox, numbered('fresh', 3))) lookUps.noteCreated(order, Date.now());
    expect(await lookUps.probe('new', { patienceMs: 0 }, { shown: () => 'shown', alone: async () => 'alone' })).toBe(
      'alone',
    );
    expect(lists()).toHaveLength(0);
  });

  test('with ten orders in an answer none is absent by it', async () => {
    const { probe, sandbox } = await open();
    await probe(NEW);
    await make(sandbox, numbered('more', 8));
    const there = numbered('more', 8);
    expect(await probe([...there, ...NEW])).toEqual({ ...all(there, 1), ...all(NEW, 'alone') });
  });

  test('no two requests name the same sentinel', async () => {
    const { probe, lists } = await open();
    for (let round = 0; round < 4; round += 1) await probe(numbered(`round-${round}`, 4));
    const sentinels = lists()
      .slice(1)
      .flatMap(({ body }) => {
        const ids: string[] = JSON.parse(body).order_ids;
        return [ids[0], ids.at(-1)];
      });
    expect(sentinels).toHaveLength(8);
    expect(new Set(sentinels).size).toBe(8);
    expect(sentinels.every((id) => id?.startsWith('ours-'))).toBe(true);
  });
});

test('an answer that once showed two orders never stands for a later one with both of them', async () => {
  const { sandbox, gate, lookUps, ours, probe } = await open();
  await probe(NEW);
  const [one, other] = (await make(sandbox, numbered('young', 2))) as [Order, Order];
  const [third, fourth] = ours as [Order, Order];
  for (const order of [one, other]) lookUps.noteCreated(order, Date.now());
  const poll = (...orders: Order[]) => {
    const shown = (order: Order) =>
      lookUps.poll(
        { orderId: order.user_order_id, orderUuid: order.order_uuid },
        { patienceMs: 50, othersCome: true },
        { shown: () => 'shown', alone: async () => 'alone' },
      );
    return Promise.all(orders.map(shown));
  };
  let kept = '';
  gate.rule = async ({ path, body }) => {
    if (!path.endsWith('/list')) return undefined;
    const answer = await ask(sandbox, path, body);
    kept = answer.body;
    return answer;
  };
  expect(await poll(one, other)).toEqual(['shown', 'shown']);
  gate.rule = () => undefined;
  expect(await poll(one, third)).toEqual(['shown', 'shown']);
  expect(await poll(other, fourth)).toEqual(['shown', 'shown']);
  gate.rule = async ({ path }) => (path.endsWith('/list') ? { status: 200, body: kept } : undefined);
  expect(await probe(THERE)).toEqual(all(THERE, 'alone'));
});

type Lab = Awaited<ReturnType<typeof open>>;

const settings =
  (change: SettingsChange) =>
  async ({ sandbox }: Lab) =>
    sandbox.set(change);

/** The list is that of another account, which has orders of its own under all ids of ours. */
async function answerFromElsewhere({ gate }: Lab): Promise<void> {
  const other = await openSandbox();
  await make(other, OURS);
  gate.rule = ({ path, body }) => (path.endsWith('/list') ? ask(other, path, body) : undefined);
}

/** Each list request is answered as the one before it should have been. */
async function answerLate({ gate, sandbox }: Lab): Promise<void> {
  let before = JSON.stringify({ status: 'success', data: [] });
  gate.rule = async ({ path, body }) => {
    if (!path.endsWith('/list')) return undefined;
    const late = before;
    before = (await ask(sandbox, path, body)).body;
    return { status: 200, body: late };
  };
}

async function ask(sandbox: Sandbox, path: string, body: string) {
  const answer = await fetch(`${sandbox.url}${path}`, { method: 'POST', body, headers: headersFor(sandbox, body) });
  return { status: answer.status, body: await answer.text() };
}

/** A second order is under the ids of some of ours. */
async function repeatIds({ sandbox }: Lab): Promise<void> {
  sandbox.set({ duplicateMode: 'c' });
  for (const id of OURS) await call(sandbox, 'order/withdraw', withdrawOf(id));
}

const withdrawOf = (order_id: string) => ({
  order_id,
  currency: 'usd',
  network: 'card',
  amount: 20,
  wallet: '4111111111111111',
});

/** Ways in which a list lies. Those that cut it off below ten do so from the beginning. */
const LIES: readonly (readonly [name: string, lie: (lab: Lab) => Promise<void>, onlyFromTheBeginning?: true])[] = [
  ['shows one order on a page', settings({ listAtMost: 1 }), true],
  ['is cut off after two, newest first', settings({ listAtMost: 2, listOrder: 'newest' }), true],
  ['is cut off after two, oldest first', settings({ listAtMost: 2, listOrder: 'oldest' }), true],
  ['is cut off after three, newest first', settings({ listAtMost: 3, listOrder: 'newest' }), true],
  ['shows nothing', settings({ listAtMost: 0 })],
  ['drops the last id', settings({ orderIdsRead: [0, -1] })],
  ['drops the first id', settings({ orderIdsRead: [1] })],
  ['reads the first three ids', settings({ orderIdsRead: [0, 3] })],
  ['reads the last three ids', settings({ orderIdsRead: [-3] })],
  ['ignores its filter', settings({ faults: { 'list.ignore-filter': 1 } })],
  ['ignores its filter, and is cut off', settings({ faults: { 'list.ignore-filter': 1 }, listAtMost: 5 })],
  ['has an item that cannot be read', settings({ faults: { 'list.malformed': 1 } })],
  ['lags behind', settings({ visibilityLagMs: 3_600_000 })],
  ['shows the orders of another account', answerFromElsewhere],
  ['answers the request before', answerLate],
  ['shows two orders under one id', repeatIds],
  ['fails', settings({ faults: { 'list.503': 1 } })],
];

describe('a list is not believed that', () => {
  test.for(LIES)('%s', async ([, lie]) => {
    const lab = await open();
    await lie(lab);
    expect(await lab.probe([...THERE, ...NEW])).toEqual(all([...THERE, ...NEW], 'alone'));
    expect(lab.lists().length).toBeGreaterThan(0);
  });

  test.for(LIES.filter(([, , onlyFromTheBeginning]) => !onlyFromTheBeginning))(
    '%s, after it told the truth for a while',
    async ([, lie]) => {
      const lab = await open();
      for (let round = 0; round < 2; round += 1) expect(await lab.probe(NEW)).toEqual(all(NEW, 0));
      await lie(lab);
      expect(await lab.probe([...THERE, ...NEW])).toEqual(all([...THERE, ...NEW], 'alone'));
    },
  );

  test.for([
    ['shows seven at once, in random order', { listAtMost: 7, listOrder: 'random' }],
    ['shows seven at once, newest first', { listAtMost: 7, listOrder: 'newest' }],
    ['reads the first seven ids', { orderIdsRead: [0, 7] }],
    ['reads the last seven ids', { orderIdsRead: [-7] }],
  ] as const)('%s: it is asked for fewer from the beginning, and what it hides asks alone', async ([, change]) => {
    const { sandbox, probe, lists } = await open();
    sandbox.set(change as SettingsChange);
    const told = await probe(THERE.flatMap((id, n) => [NEW[n] ?? '', id]));
    expect(Object.values(told).filter((answer) => answer !== 'alone')).toEqual([0, 1, 0, 1]);
    expect(THERE.map((id) => told[id])).not.toContain(0);
    expect(JSON.parse(lists().at(-1)?.body ?? '').order_ids).toHaveLength(6);
  });

  test('and its group leaves the next probes alone for a while', async () => {
    const lab = await open();
    lab.sandbox.set({ orderIdsRead: [0, -1] });
    await lab.probe(NEW);
    const asked = lab.lists().length;
    expect(await lab.probe(NEW)).toEqual(all(NEW, 'alone'));
    expect(lab.lists()).toHaveLength(asked);
  });
});

test('too many requests are said to every member, and none asks alone', async () => {
  const { sandbox, lookUps } = await open();
  sandbox.set({ faults: { 'list.429': 1 } });
  let alone = 0;
  const ways = {
    shown: () => 'shown',
    alone: async () => {
      alone += 1;
      return 'alone';
    },
  };
  const told = ['first', ...NEW].map((id) => lookUps.probe(id, { patienceMs: 30 }, ways));
  const ends = await Promise.allSettled(told);
  expect(ends.map(({ status }) => status)).toEqual(['fulfilled', ...NEW.map(() => 'rejected')]);
  expect(alone).toBe(1);
});
