import { mkdirSync, mkdtempSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/index.js';
import type { OrderHandle } from '../../src/client/order-handle.js';
import { PaymentOrders } from '../../src/client.js';
import { callbackUrl } from '../../src/contract/callback-url.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId } from '../support/lab.js';
import { createTestNamespace } from '../support/temporal.js';
import { endProcesses, type Process, receiverEnv, startProcess, temporalEnv, workerEnv } from './process.fixture.js';
import { fingerprint, openRotatedKeys, type RotatedKeys } from './rotated-keys.fixture.js';

/** Generous, for busy machines. */
const WITHIN = { timeout: 240_000, interval: 500 };

const OLD = ['old-key', 'old-secret'] as const;
const NEW = ['new-key', 'new-secret'] as const;
const OTHER = ['other-key', 'other-secret'] as const;

const closings: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  await endProcesses();
  await Promise.all(closings.map((close) => close()));
});

/** A key folder as Kubernetes mounts one: links to `..data`, which is a link to a folder that is replaced as a whole. */
class KeyFolder {
  readonly #root = mkdtempSync(join(tmpdir(), 'payment-orders-keys-'));
  #version = 0;

  constructor(pair: readonly [string, string]) {
    this.replace(pair);
    for (const name of ['key', 'secret', 'predecessors']) symlinkSync(join('..data', name), this.path(name));
    closings.push(() => rm(this.#root, { recursive: true }));
  }

  path(name: string): string {
    return join(this.#root, name);
  }

  /** All at once. `after`: the pair before it; without one it names itself alone, which means nothing. */
  replace(pair: readonly [string, string], { mode = 0o600, after = pair } = {}): void {
    const [key, secret] = pair;
    this.#version += 1;
    const version = this.path(`..${this.#version}`);
    mkdirSync(version);
    for (const [name, content] of Object.entries({ key, secret, predecessors: fingerprint(after) })) {
      writeFileSync(join(version, name), `${content}\n`, { mode });
    }
    symlinkSync(`..${this.#version}`, this.path('..next'));
    renameSync(this.path('..next'), this.path('..data'));
  }
}

/** An account at the service, another one beside it, and a way to start workers of the first with the keys in a folder. */
async function openService() {
  const [service, account, other] = [await openRotatedKeys(), await openAccount('first'), await openAccount('other')];
  closings.push(() => service.close());
  service.allow(...OLD, account);
  service.allow(...OTHER, other);
  const temporal = await createTestNamespace();
  closings.push(() => temporal.close());
  const folder = new KeyFolder(OLD);
  const { PAYMENT_API_KEY: _, PAYMENT_API_SECRET: __, ...env } = workerEnv(temporalEnv(temporal), service.url);
  const files = {
    PAYMENT_API_KEY_FILE: folder.path('key'),
    PAYMENT_API_SECRET_FILE: folder.path('secret'),
    PAYMENT_API_KEY_PREDECESSORS_FILE: folder.path('predecessors'),
  };
  const start = async (): Promise<Process> => {
    const worker = startProcess('src/worker.ts', { ...env, ...files });
    await worker.ready;
    return worker;
  };
  return { service, account, other, folder, start, orders: new PaymentOrders(temporal.client) };
}

async function openAccount(apiKey: string): Promise<Sandbox> {
  const sandbox = await startSandbox({ apiKey, timeScale: 0.2 });
  closings.push(() => sandbox.close());
  return sandbox;
}

async function stop(worker: Process): Promise<void> {
  worker.kill('SIGTERM');
  expect(await worker.exited).toBe(0);
}

const creates = (service: RotatedKeys) => service.asked().filter(({ path }) => path.endsWith('/order/withdraw'));

const payOut = (orders: PaymentOrders, marker = '') =>
  orders.start('withdraw', orderInput('withdraw', newOrderId('rotated'), marker ? { marker } : {}));

const payOutMany = (orders: PaymentOrders, count: number) =>
  Promise.all(Array.from({ length: count }, () => payOut(orders)));

const executed = (account: Sandbox, { orderId }: OrderHandle) => account.stats().executedByOrderId[orderId] ?? 0;

/** A payout that is executed and answered 500; no look-up gets an answer until `setFaults({})`. */
async function payOutUnseen({ service, account, orders }: Awaited<ReturnType<typeof openService>>) {
  const before = creates(service).length;
  const order = await payOut(orders, 'create=500 lag_ms=3000 duplicate=c');
  await vi.waitFor(() => expect(creates(service)).toHaveLength(before + 1), WITHIN);
  account.set({ faults: { 'list.500': 1, 'status.500': 1 } });
  return order;
}

test('a key is rotated by a rolling restart of two workers: orders in flight end, each paid once', async () => {
  const at = await openService();
  const { service, account, folder, start, orders } = at;
  const [first, second] = await Promise.all([start(), start()]);
  const before = await payOutMany(orders, 6);
  await vi.waitFor(() => expect(creates(service)).toHaveLength(before.length), WITHIN);
  // From here on none of them can end, and one more may have been executed.
  const unseen = await payOutUnseen(at);
  service.allow(...NEW, account);
  folder.replace(NEW, { after: OLD });
  await stop(first);
  const third = await start();
  account.set({ faults: {} });
  const meanwhile = await payOutMany(orders, 12);
  const used = () => new Set(creates(service).map(({ apiKey }) => apiKey));
  await vi.waitFor(() => expect([...used()]).toEqual([OLD[0], NEW[0]]), WITHIN);
  await stop(second);
  const fourth = await start();
  service.revoke(OLD[0]);
  const from = creates(service).length;
  const after = await payOutMany(orders, 6);
  const all = [...before, unseen, ...meanwhile, ...after];
  for (const order of all) expect(await order.result()).toMatchObject({ outcome: 'completed' });
  expect(
    creates(service)
      .slice(from)
      .map(({ apiKey }) => apiKey),
  ).not.toContain(OLD[0]);
  for (const order of all) expect(executed(account, order)).toBe(1);
  for (const worker of [first, second, third, fourth])
    for (const secret of [...OLD, ...NEW]) expect(worker.stderr()).not.toContain(secret);
});

test('files that change under a running worker change nothing: it goes on with the keys of its start', async () => {
  const { service, account, other, folder, start, orders } = await openService();
  const worker = await start();
  folder.replace(OTHER);
  folder.replace([NEW[0], '']);
  const order = await payOut(orders);
  expect(await order.result()).toMatchObject({ outcome: 'completed' });
  expect(executed(account, order)).toBe(1);
  expect(other.stats().createsByOrderId).toEqual({});
  expect(new Set(service.asked().map(({ apiKey }) => apiKey))).toEqual(new Set([OLD[0]]));
  await stop(worker);
});

test('a worker that starts with a new key and the old secret says so, pays nothing, and loses nothing', async () => {
  const { service, account, folder, start, orders } = await openService();
  service.allow(...NEW, account);
  folder.replace([NEW[0], OLD[1]], { after: OLD });
  const wrong = await start();
  expect((await wrong.ready).findings).toContain('signed-read:default');
  const order = await payOut(orders);
  await vi.waitFor(
    () => expect(service.asked().filter(({ status }) => status === 401).length).toBeGreaterThan(1),
    WITHIN,
  );
  expect(creates(service)).toEqual([]);
  await stop(wrong);
  folder.replace(NEW, { after: OLD });
  await start();
  expect(await order.result()).toMatchObject({ outcome: 'completed', adopted: false });
  expect(executed(account, order)).toBe(1);
});

test('a worker is restarted with another account’s keys: open orders wait with attention until they are set back', async () => {
  const at = await openService();
  const { account, other, folder, start } = at;
  const worker = await start();
  const open = await payOutUnseen(at);
  folder.replace(OTHER);
  await stop(worker);
  account.set({ faults: {} });
  const wrong = await start();
  const says = (reason: RegExp) =>
    vi.waitFor(async () => expect((await open.state()).attention?.reason).toMatch(reason), WITHIN);
  await says(/Set base URL and key of account default back/);
  folder.replace(OLD);
  await stop(wrong);
  await start();
  expect(await open.result()).toMatchObject({ outcome: 'completed', adopted: true });
  expect(executed(account, open)).toBe(1);
  expect(other.stats().createsByOrderId).toEqual({});
});

test('a callback key is rotated by restarts of the receiver: both keys are taken, then the new one alone', async () => {
  const temporal = await createTestNamespace();
  closings.push(() => temporal.close());
  const env = receiverEnv(temporalEnv(temporal), 0);
  const statusesWith = async (keys: string) => {
    const receiver = startProcess('src/receiver.ts', { ...env, CALLBACK_TOKEN_KEY: keys });
    const { receiver: url = '' } = await receiver.ready;
    const statusOf = async (key: string) => {
      // Each order has its own allowance of callbacks.
      const target = { kind: 'order', account: 'default', orderId: newOrderId('unknown') } as const;
      return (await fetch(callbackUrl(url, key, target), { method: 'POST', body: '{}' })).status;
    };
    const statuses = [await statusOf('the-first-callback-key'), await statusOf('the-second-callback-key')];
    await stop(receiver);
    expect(receiver.stderr()).not.toContain('callback-key');
    return statuses;
  };
  const [taken, unknown] = await statusesWith('the-first-callback-key');
  expect(unknown).toBe(404);
  expect(taken).not.toBe(404);
  expect(await statusesWith('the-first-callback-key,the-second-callback-key')).toEqual([taken, taken]);
  expect(await statusesWith('the-second-callback-key,the-first-callback-key')).toEqual([taken, taken]);
  expect(await statusesWith('the-second-callback-key')).toEqual([404, taken]);
});
