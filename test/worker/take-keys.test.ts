import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/index.js';
import { elsewhereOf, sentToOf } from '../../src/activities/order/sent-to.js';
import { type AccountConfig, Secret } from '../../src/config.js';
import type { Order } from '../../src/contract/service-objects.js';
import { openAccounts } from '../../src/worker/accounts.js';
import { takeKeys } from '../../src/worker/take-keys.js';
import { create } from '../sandbox/sandbox.fixture.js';
import { workerConfigFor } from '../support/lab.js';
import { fingerprint, openRotatedKeys } from './rotated-keys.fixture.js';

type Pair = readonly [key: string, secret: string];

const OLD: Pair = ['old-key', 'old-secret'];
const NEW: Pair = ['new-key', 'new-secret'];
const OTHER: Pair = ['other-key', 'other-secret'];

/** Of the next key: it names the old one. */
const AFTER_OLD = { predecessors: [fingerprint(OLD)] };

async function openSandbox(apiKey: string): Promise<Sandbox> {
  const sandbox = await startSandbox({ apiKey });
  onTestFinished(() => sandbox.close());
  return sandbox;
}

/** A service with two accounts, and a worker's view of the first, which has the old pair. */
async function open(names: readonly string[] = ['default']) {
  const [service, first, second] = [await openRotatedKeys(), await openSandbox('first'), await openSandbox('second')];
  onTestFinished(() => service.close());
  const config = (name: string, [apiKey, apiSecret]: Pair, change: Partial<AccountConfig> = {}): AccountConfig => ({
    ...{ name, baseUrl: service.url, signer: 'hmac-sha256' },
    ...{ apiKey: new Secret(apiKey), apiSecret: new Secret(apiSecret) },
    ...change,
  });
  service.allow(...OLD, first);
  service.allow(...OTHER, second);
  const pairs = [OLD, OTHER];
  const configured = new Map(names.map((name, index) => [name, config(name, pairs[index] ?? OLD)]));
  const accounts = await openAccounts(configured);
  const worker = { ...workerConfigFor(first), accounts: configured };
  const [name = ''] = names;
  const current = () => {
    const account = accounts.get(name);
    if (!account) throw new Error('no account');
    return account;
  };
  /** What is said of keys that were read anew. */
  const take = (...read: AccountConfig[]) =>
    takeKeys(worker, accounts, { accounts: new Map(read.map((account) => [account.name, account])) });
  /** The keys and paths of all requests since `from`. */
  const asked = (from = 0) =>
    service
      .asked()
      .slice(from)
      .map(({ apiKey, path }) => `${apiKey} ${path}`);
  return { service, first, accounts, config, take, asked, current };
}

test('a new pair of the same account is taken by what begins from then on, and what is under way ends with the old one', async () => {
  const { service, first, config, take, asked, current } = await open();
  const under = current();
  service.allow(...NEW, first);
  expect(await take(config('default', NEW, AFTER_OLD))).toEqual([]);
  const next = current();
  expect(next).not.toBe(under);
  const from = service.asked().length;
  await under.service.rates();
  await next.service.rates();
  expect(asked(from)).toEqual(['old-key /v2/rates', 'new-key /v2/rates']);
  // It names its predecessor: open orders go on by themselves.
  expect(elsewhereOf(next, sentToOf(under))).toBeUndefined();
  // Once taken it is asked nothing any more.
  const before = service.asked().length;
  expect(await take(config('default', NEW, AFTER_OLD))).toEqual([]);
  expect(service.asked().length).toBe(before);
});

test('orders that were known to exist by the pair before prove nothing by the next one: its probes ask alone', async () => {
  const { service, first, config, take, asked, current } = await open();
  const under = current();
  for (let n = 0; n < 10; n += 1) {
    under.lookUps.noteCreated((await create(first, 'withdraw', `w-${n}`)).body.data as unknown as Order, Date.now());
  }
  await sleep(2_100);
  const probe = ({ lookUps }: typeof under, id: string) =>
    lookUps.probe<number | 'alone'>(
      id,
      { patienceMs: 50 },
      { shown: (items) => items.length, alone: async () => 'alone' },
    );
  const probes = (account: typeof under) => Promise.all(['n-1', 'n-2', 'n-3'].map((id) => probe(account, id)));
  expect(await probes(under)).toEqual(['alone', 0, 0]);
  service.allow(...NEW, first);
  expect(await take(config('default', NEW, AFTER_OLD))).toEqual([]);
  const from = service.asked().length;
  expect(await probes(current())).toEqual(['alone', 'alone', 'alone']);
  expect(asked(from)).toEqual([]);
});

test('only one of both is replaced: neither is used, until the other one has followed', async () => {
  const { service, first, config, take, current } = await open();
  const before = current();
  service.allow(...NEW, first);
  for (const mixed of [[NEW[0], OLD[1]] as const, [OLD[0], NEW[1]] as const]) {
    const [problem] = await take(config('default', mixed, AFTER_OLD));
    expect(problem).toBe(
      'account default: the keys that were read anew are not used, since balances cannot be read with them (HTTP 401)',
    );
    expect(current()).toBe(before);
  }
  expect(await take(config('default', NEW, AFTER_OLD))).toEqual([]);
  expect(current()).not.toBe(before);
});

test('a pair that the service does not know yet is taken once it does', async () => {
  const { service, first, config, take, current } = await open();
  const before = current();
  expect(await take(config('default', NEW, AFTER_OLD))).toHaveLength(1);
  service.allow(...NEW, first);
  first.set({ serverDown: true });
  expect((await take(config('default', NEW, AFTER_OLD)))[0]).toMatch(/cannot be read with them/);
  expect(current()).toBe(before);
  first.set({ serverDown: false });
  expect(await take(config('default', NEW, AFTER_OLD))).toEqual([]);
});

describe('a pair that does not name the present one', () => {
  const refusedOf = (name: string, present: Pair) =>
    `account ${name}: the keys that were read anew are not used, since they do not name the present key. If the key was rotated, list ${fingerprint(present)} in PAYMENT_API_KEY_PREDECESSORS_FILE, or apiKeyPredecessors in the accounts file: only a restart changes the account`;

  test('is never changed to, also where the old pair is taken back by then: nothing is asked with it', async () => {
    const { service, config, take, asked, current } = await open();
    const before = current();
    expect(await take(config('default', OTHER))).toEqual([refusedOf('default', OLD)]);
    service.revoke(OLD[0]);
    expect(await take(config('default', OTHER))).toEqual([refusedOf('default', OLD)]);
    expect(current()).toBe(before);
    expect(asked()).toEqual([]);
  });

  test('is not changed to where the files of two are mixed up', async () => {
    const { config, take, accounts } = await open(['a', 'b']);
    const before = new Map(accounts);
    expect(await take(config('a', OTHER), config('b', OLD))).toEqual([refusedOf('a', OLD), refusedOf('b', OTHER)]);
    expect(accounts).toEqual(before);
  });

  test('is taken once it does, and the way back once that is named, too', async () => {
    const { service, first, config, take, current } = await open();
    service.allow(...NEW, first);
    expect(await take(config('default', NEW))).toEqual([refusedOf('default', OLD)]);
    expect(await take(config('default', NEW, AFTER_OLD))).toEqual([]);
    const pin = sentToOf(current());
    expect(await take(config('default', OLD))).toEqual([refusedOf('default', NEW)]);
    expect(await take(config('default', OLD, { predecessors: [fingerprint(OLD), fingerprint(NEW)] }))).toEqual([]);
    expect(elsewhereOf(current(), pin)).toBeUndefined();
  });
});

test('predecessors that are named later are taken with the same key', async () => {
  const { config, take, current } = await open();
  const pin = { account: `${current().id.split('#')[0]}#${fingerprint(NEW)}` };
  expect(elsewhereOf(current(), pin)).toBeDefined();
  expect(await take(config('default', OLD, { predecessors: [fingerprint(NEW)] }))).toEqual([]);
  expect(elsewhereOf(current(), pin)).toBeUndefined();
});

test('whatever else changes beside the keys keeps all as it is, and the new key asks nothing', async () => {
  const { service, first, config, take, asked, current } = await open();
  service.allow(...NEW, first);
  const before = current();
  for (const change of [{ baseUrl: `${service.url}/v9` }, { signer: 'hmac-sha512' }, { requestsPerSecond: 5 }]) {
    expect(await take(config('default', NEW, { ...AFTER_OLD, ...change }))).toEqual([
      'settings of accounts have changed in more than keys: restart the worker, or put the rest back',
    ]);
  }
  expect(await take(config('default', NEW, AFTER_OLD), config('b', OTHER))).toHaveLength(1);
  expect(await take()).toHaveLength(1);
  expect(current()).toBe(before);
  expect(asked()).toEqual([]);
});

test('callback keys are replaced for all who hold them', async () => {
  const tokenKeys = ['old-token-key'];
  const worker = { ...workerConfigFor(await openSandbox('x')), callback: { baseUrl: 'https://h.example', tokenKeys } };
  const read = { accounts: worker.accounts, callback: { baseUrl: 'https://h.example', tokenKeys: ['new', 'old'] } };
  expect(await takeKeys(worker, await openAccounts(worker.accounts), read)).toEqual([]);
  expect(tokenKeys).toEqual(['new', 'old']);
});
