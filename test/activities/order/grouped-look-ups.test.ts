import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { type SettingsChange, startSandbox } from '../../../sandbox/index.js';
import { GroupedLookUps, type KnownOrder } from '../../../src/activities/order/grouped-look-ups.js';
import { createPaymentService } from '../../../src/payment-service/client.js';
import { Limiter } from '../../../src/payment-service/limiter.js';
import { loadSigner } from '../../../src/payment-service/signers.js';
import { create } from '../../sandbox/sandbox.fixture.js';

/** Longer than any test waits: what comes earlier did not wait for it. */
const FOR_EVER_MS = 60_000;

/** So many open orders at a sandbox, and look-ups of their account, one of which is under way: the next one waits for others. */
async function open(
  count: number,
  {
    settings = {},
    requestsPerSecond,
    mostWaiting,
    marker = () => '',
  }: {
    settings?: SettingsChange;
    requestsPerSecond?: number;
    mostWaiting?: number;
    marker?: (n: number) => string;
  } = {},
) {
  const sandbox = await startSandbox({ settings: { callbacks: { enabled: false } } });
  onTestFinished(() => sandbox.close());
  const known: KnownOrder[] = [];
  for (let n = 0; n <= count; n += 1) {
    const orderId = `w-${n}`;
    const description = `[sandbox after_ms=1000000 ${marker(n)}]`;
    const { order_uuid: orderUuid } = (await create(sandbox, 'withdraw', orderId, { description })).body.data;
    known.push({ orderId, orderUuid });
  }
  sandbox.set(settings);
  const { url: baseUrl, apiKey, apiSecret } = sandbox;
  const sign = await loadSigner('hmac-sha256');
  const service = createPaymentService({ baseUrl, apiKey, apiSecret, sign, limiter: new Limiter(requestsPerSecond) });
  const lookUps = new GroupedLookUps(service, { mostWaiting, lagMs: 0 });
  /** The order id that is shown, from a group or alone. */
  const look = (asked: KnownOrder, patienceMs: number, signal?: AbortSignal) =>
    lookUps.poll(
      asked,
      { patienceMs, signal },
      {
        shown: ({ user_order_id: id }) => `${id} in a group`,
        alone: async () => `${(await service.orderStatus({ order_uuid: asked.orderUuid })).order?.user_order_id} alone`,
      },
    );
  const [first, ...others] = known;
  if (!first) throw new Error('no order');
  const over = new AbortController();
  onTestFinished(() => over.abort());
  const underWay = { shown: () => undefined, alone: () => sleep(FOR_EVER_MS, undefined, { signal: over.signal }) };
  lookUps.poll(first, { patienceMs: 0 }, underWay).catch(() => undefined);
  const asked = () => sandbox.requests().flatMap(({ path }) => /(status|list)$/.exec(path)?.[1] ?? []);
  return { sandbox, service, lookUps, known: others, look, asked };
}

const inGroup = (known: readonly KnownOrder[]) => known.map(({ orderId }) => `${orderId} in a group`);

test('one request answers every order that falls due within the window', async () => {
  const { known, look, asked } = await open(40);
  expect(await Promise.all(known.map((order) => look(order, 100)))).toEqual(inGroup(known));
  expect(asked()).toEqual(['list']);
});

test('a group leaves at the earliest deadline of its members', async () => {
  const { known, look } = await open(3);
  const told = await Promise.all(known.map((order, n) => look(order, n === 1 ? 50 : FOR_EVER_MS)));
  expect(told).toEqual(inGroup(known));
});

test('one that nobody joins asks alone, when its time is up', async () => {
  const { known, look, asked } = await open(1);
  expect(await Promise.all(known.map((order) => look(order, 50)))).toEqual(['w-1 alone']);
  expect(asked()).toEqual(['status']);
});

test('a group leaves at once when so many wait that slots would run out', async () => {
  const { known, look, asked } = await open(8, { mostWaiting: 5 });
  expect(await Promise.all(known.slice(0, 4).map((order) => look(order, FOR_EVER_MS)))).toEqual(
    inGroup(known.slice(0, 4)),
  );
  expect(asked()).toEqual(['list']);
});

test('one that is slow by itself delays nobody', async () => {
  const { known, lookUps, look } = await open(6);
  const [slow, ...others] = known;
  if (!slow) throw new Error('no order');
  let isOver = false;
  // Not shown by the list under this uuid, so that it asks alone, which takes for ever.
  const pending = lookUps.poll(
    { ...slow, orderUuid: 'another' },
    { patienceMs: 50 },
    { shown: () => undefined, alone: () => sleep(20_000, undefined, { ref: false }) },
  );
  void pending.finally(() => {
    isOver = true;
  });
  expect(await Promise.all(others.map((order) => look(order, FOR_EVER_MS)))).toEqual(inGroup(others));
  expect(isOver).toBe(false);
});

test('one that is given up takes nobody along', async () => {
  const { known, look } = await open(4);
  const [given, ...others] = known;
  if (!given) throw new Error('no order');
  const giving = new AbortController();
  const gone = expect(look(given, 100, giving.signal)).rejects.toThrow('aborted');
  const told = others.map((order) => look(order, 100));
  giving.abort();
  await gone;
  expect(await Promise.all(told)).toEqual(inGroup(others));
});

test('others join a group while its request waits for its turn', async () => {
  const { known, look, asked, service } = await open(12, { requestsPerSecond: 2 });
  // They take the next turns.
  const before = [service.balances(), service.balances()];
  const early = known.slice(0, 2).map((order) => look(order, 1));
  await sleep(300);
  const late = known.slice(2).map((order) => look(order, 1));
  expect(await Promise.all([...early, ...late])).toEqual(inGroup(known));
  expect(asked()).toEqual(['list']);
  await Promise.all(before);
});

test('an order under another id or uuid is not the one that was asked for', async () => {
  const { known, look } = await open(4);
  const [one, two, ...others] = known;
  if (!one || !two) throw new Error('no order');
  const crossed = { orderId: one.orderId, orderUuid: two.orderUuid };
  expect(await Promise.all([crossed, ...others].map((order) => look(order, 50)))).toEqual([
    'w-2 alone',
    ...inGroup(others),
  ]);
});

test('whom the list does not show, or not readably, asks alone', async () => {
  const hidden = ['', 'list=unseen', 'list=malformed', 'list_lag_ms=1000000'];
  const { known, look } = await open(7, { marker: (n) => hidden[n] ?? '' });
  const told = await Promise.all(known.map((order) => look(order, 50)));
  expect(told).toEqual(['w-1 alone', 'w-2 alone', 'w-3 alone', ...inGroup(known.slice(3))]);
});

test('with a list that is cut off the others ask alone, and the next groups are as small', async () => {
  const { known, look, asked } = await open(30, { settings: { listAtMost: 10 } });
  const told = await Promise.all(known.map((order) => look(order, 50)));
  expect(told.filter((shown) => shown.endsWith('group'))).toHaveLength(10);
  expect(asked()).toHaveLength(1 + 20);
  await Promise.all(known.slice(0, 10).map((order) => look(order, FOR_EVER_MS)));
  expect(asked()).toHaveLength(1 + 20 + 1);
});

test.for(['503', 'no-answer', 'html', '400'])('a list that fails (%s) leaves each to itself', async (fault) => {
  const { known, look, asked } = await open(5, { settings: { faults: { [`list.${fault}`]: 1 } } });
  expect(await Promise.all(known.map((order) => look(order, 20)))).toEqual(known.map((k) => `${k.orderId} alone`));
  expect(asked()).toEqual(['list', ...known.map(() => 'status')]);
});

test('an id that no list can be asked for asks alone', async () => {
  const { known, look, asked } = await open(3);
  const unnamed = known.map((order) => ({ ...order, orderId: '' }));
  expect(await Promise.all(unnamed.map((order) => look(order, FOR_EVER_MS)))).toEqual(
    known.map(({ orderId }) => `${orderId} alone`),
  );
  expect(asked()).toEqual(known.map(() => 'status'));
});
