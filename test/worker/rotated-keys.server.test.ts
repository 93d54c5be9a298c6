import { mkdirSync, mkdtempSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/index.js';
import type { OrderHandle } from '../../src/client/order-handle.js';
import { PaymentOrders } from '../../src/client.js';
import { callbackUrl } from '../../src/contract/callback-url.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId } from '../support/lab.js';
import { createTestNamespace } from '../support/temporal.js';
import {
  type Env,
  endProcesses,
  type Process,
  receiverEnv,
  startProcess,
  temporalEnv,
  workerEnv,
} from './process.fixture.js';
import { fingerprint, openRotatedKeys, type RotatedKeys } from './rotated-keys.fixture.js';

/** Four times as long as docs/running.md promises, for busy machines. */
const WITHIN = { timeout: 240_000, interval: 500 };

const OLD = ['old-key', 'old-secret'] as const;
const NEW = ['new-key', 'new-secret'] as const;
const OTHER = ['other-key', 'other-secret'] as const;

/** Tests run side by side, so that what they leave goes at the end. */
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

/** An account at the service, another one beside it, and a worker of the first that gets its keys as `sources` says. */
async function openWorker(sources: (folder: KeyFolder) => Env = inFiles) {
  const [service, account, other] = [await openRotatedKeys(), await openAccount('first'), await openAccount('other')];
  closings.push(() => service.close());
  service.allow(...OLD, account);
  service.allow(...OTHER, other);
  const temporal = await createTestNamespace();
  closings.push(() => temporal.close());
  const folder = new KeyFolder(OLD);
  const { PAYMENT_API_KEY: _, PAYMENT_API_SECRET: __, ...env } = workerEnv(temporalEnv(temporal), service.url);
  const start = async (): Promise<Process> => {
    const worker = startProcess('src/worker.ts', { ...env, ...sources(folder) });
    await worker.ready;
    return worker;
  };
  return { service, account, other, folder, start, worker: await start(), orders: new PaymentOrders(temporal.client) };
}

async function openAccount(apiKey: string): Promise<Sandbox> {
  const sandbox = await startSandbox({ apiKey, timeScale: 0.2 });
  closings.push(() => sandbox.close());
  return sandbox;
}

const inFiles = (folder: KeyFolder): Env => ({
  PAYMENT_API_KEY_FILE: folder.path('key'),
  PAYMENT_API_SECRET_FILE: folder.path('secret'),
  PAYMENT_API_KEY_PREDECESSORS_FILE: folder.path('predecessors'),
});

const creates = (service: RotatedKeys) => service.asked().filter(({ path }) => path.endsWith('/order/withdraw'));

const payOut = (orders: PaymentOrders, marker = '') =>
  orders.start('withdraw', orderInput('withdraw', newOrderId('rotated'), marker ? { marker } : {}));

const saysInLog = (process: Process, text: string) =>
  vi.waitFor(() => expect(process.stderr()).toContain(text), WITHIN);

const executed = (account: Sandbox, { orderId }: OrderHandle) => account.stats().executedByOrderId[orderId] ?? 0;

/** A payout that is executed and answered 500; no look-up gets an answer until `setFaults({})`. */
async function payOutUnseen({ service, account, orders }: Awaited<ReturnType<typeof openWorker>>) {
  const before = creates(service).length;
  const order = await payOut(orders, 'create=500 lag_ms=3000 duplicate=c');
  await vi.waitFor(() => expect(creates(service)).toHaveLength(before + 1), WITHIN);
  account.set({ faults: { 'list.500': 1, 'status.500': 1 } });
  return order;
}

const TAKEN = 'account default signs with the keys that were read anew';

describe.concurrent('while a worker runs', () => {
  test('its key files are replaced: it signs with the new pair, and an order open meanwhile ends, paid once', async () => {
    const at = await openWorker();
    const { service, account, folder, worker, orders } = at;
    const before = await payOut(orders);
    expect(await before.result()).toMatchObject({ outcome: 'completed' });
    const open = await payOutUnseen(at);
    service.allow(...NEW, account);
    folder.replace(NEW, { after: OLD });
    await saysInLog(worker, TAKEN);
    service.revoke(OLD[0]);
    account.set({ faults: {} });
    expect(await open.result()).toMatchObject({ outcome: 'completed', adopted: true });
    const after = await payOut(orders);
    expect(await after.result()).toMatchObject({ outcome: 'completed', adopted: false });
    expect(creates(service).map(({ apiKey }) => apiKey)).toEqual([OLD[0], OLD[0], NEW[0]]);
    for (const order of [before, open, after]) expect(executed(account, order)).toBe(1);
    for (const secret of [...OLD, ...NEW]) expect(worker.stderr()).not.toContain(secret);
  });

  test('its commands print another pair: it signs with that', async () => {
    const { service, account, folder, worker, orders } = await openWorker((keys) => ({
      PAYMENT_API_KEY_COMMAND: `/bin/cat ${keys.path('key')}`,
      PAYMENT_API_SECRET_COMMAND: `/bin/cat ${keys.path('secret')}`,
      PAYMENT_API_KEY_PREDECESSORS: fingerprint(OLD),
    }));
    expect(await (await payOut(orders)).result()).toMatchObject({ outcome: 'completed' });
    service.allow(...NEW, account);
    folder.replace(NEW);
    await saysInLog(worker, TAKEN);
    service.revoke(OLD[0]);
    expect(await (await payOut(orders)).result()).toMatchObject({ outcome: 'completed' });
    expect(creates(service).map(({ apiKey }) => apiKey)).toEqual([OLD[0], NEW[0]]);
  });

  test('its files are cut off, opened to others, or of another account: it says so and goes on with what it has', async () => {
    const { service, account, other, folder, worker, orders } = await openWorker();
    await (await payOut(orders)).result();
    folder.replace([OLD[0], '']);
    await saysInLog(worker, 'keys stay as they are: PAYMENT_API_SECRET_FILE: must not be empty');
    folder.replace(NEW, { mode: 0o644, after: OLD });
    await saysInLog(worker, 'keys stay as they are: PAYMENT_API_KEY_FILE: may be read or changed by other users');
    folder.replace(OTHER);
    await saysInLog(worker, 'they do not name the present key');
    const order = await payOut(orders);
    expect(await order.result()).toMatchObject({ outcome: 'completed' });
    expect(executed(account, order)).toBe(1);
    expect(other.stats().createsByOrderId).toEqual({});
    expect(service.asked().filter(({ apiKey }) => apiKey === OTHER[0])).toEqual([]);
    for (const secret of [...OLD, ...OTHER]) expect(worker.stderr()).not.toContain(secret);
  });

  test('and once it is started anew with another account’s keys, open orders wait with attention until they are set back', async () => {
    const at = await openWorker();
    const { account, other, folder, worker, start } = at;
    const open = await payOutUnseen(at);
    folder.replace(OTHER);
    await saysInLog(worker, 'they do not name the present key');
    worker.kill('SIGTERM');
    expect(await worker.exited).toBe(0);
    account.set({ faults: {} });
    const wrong = await start();
    const says = (reason: RegExp) =>
      vi.waitFor(async () => expect((await open.state()).attention?.reason).toMatch(reason), WITHIN);
    await says(/Set base URL and key of account default back/);
    // Neither does it change back by itself.
    folder.replace(OLD);
    await saysInLog(wrong, 'they do not name the present key');
    wrong.kill('SIGTERM');
    expect(await wrong.exited).toBe(0);
    await start();
    expect(await open.result()).toMatchObject({ outcome: 'completed', adopted: true });
    expect(executed(account, open)).toBe(1);
    expect(other.stats().createsByOrderId).toEqual({});
  });
});

test.concurrent('while the receiver runs, its key file is replaced: callbacks of the new key are taken, those of the old one no more', async () => {
  const temporal = await createTestNamespace();
  closings.push(() => temporal.close());
  const folder = new KeyFolder(['the-first-callback-key', 'unused']);
  const { CALLBACK_TOKEN_KEY: _, ...env } = receiverEnv(temporalEnv(temporal), 0);
  const receiver = startProcess('src/receiver.ts', { ...env, CALLBACK_TOKEN_KEY_FILE: folder.path('key') });
  const { receiver: url = '' } = await receiver.ready;
  const statusOf = async (key: string) => {
    // Each order has its own allowance of callbacks.
    const target = { kind: 'order', account: 'default', orderId: newOrderId('unknown') } as const;
    return (await fetch(callbackUrl(url, key, target), { method: 'POST', body: '{}' })).status;
  };
  const statuses = async () => [await statusOf('the-first-callback-key'), await statusOf('the-second-callback-key')];
  const [taken] = await statuses();
  expect(taken).not.toBe(404);
  expect(await statuses()).toEqual([taken, 404]);
  folder.replace(['the-second-callback-key,the-first-callback-key', 'unused']);
  await vi.waitFor(async () => expect(await statuses()).toEqual([taken, taken]), WITHIN);
  folder.replace(['the-second-callback-key', 'unused']);
  await vi.waitFor(async () => expect(await statuses()).toEqual([404, taken]), WITHIN);
  folder.replace(['short', 'unused']);
  await saysInLog(
    receiver,
    'keys stay as they are: CALLBACK_TOKEN_KEY_FILE: each key must have at least 16 characters',
  );
  expect(await statuses()).toEqual([404, taken]);
  expect(receiver.stderr()).not.toContain('callback-key');
});
