import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import Big from 'big.js';
import { afterEach, expect, test } from 'vitest';
import { SANDBOX_API_KEY as apiKey, SANDBOX_API_SECRET as apiSecret } from '../../sandbox/options.js';
import { newFolder } from '../support/batch-files.js';
import { type Env, endProcesses, startProcess } from '../worker/process.fixture.js';
import { startReceiver } from './receiver.fixture.js';
import { BODIES, call, create, finalItem, type Item, start, until } from './sandbox.fixture.js';

const FREE_PORTS = { SANDBOX_PORT: '0', SANDBOX_ADMIN_PORT: '0' };

afterEach(endProcesses);

/** Starts the real process and waits until it can be used. */
async function startSandboxProcess(env: Env) {
  const sandbox = startProcess('sandbox/main.ts', { ...FREE_PORTS, ...env });
  const { service: url = '', admin: adminUrl = '' } = await sandbox.ready;
  const end = (signal: NodeJS.Signals): Promise<number | null> => {
    sandbox.kill(signal);
    return sandbox.exited;
  };
  return { url, adminUrl, apiKey, apiSecret, end };
}

test('after kill -9 orders, ledger, pending lives, queued creates and callbacks go on', async () => {
  const env = { SANDBOX_DATA_DIR: newFolder(), SANDBOX_TIME_SCALE: '0.1' };
  // Refuses twice, so that the callback of the finished order is still pending when the process dies.
  const { url: hook, received } = await startReceiver([500, 500]);
  const first = await startSandboxProcess(env);
  const send = (id: string, words: string) =>
    call(first, 'order/withdraw', {
      order_id: id,
      ...BODIES.withdraw,
      description: `[sandbox ${words}]`,
      callback_url: hook,
    });
  await send('done', 'after_ms=1');
  await until(
    () => received.length,
    (n) => n >= 1,
  );
  await send('pending', 'after_ms=1500');
  expect((await send('queued', 'create=500-later later_ms=1500')).status).toBe(500);
  await first.end('SIGKILL');

  const second = await startSandboxProcess(env);
  const item = async (id: string) => (await call<Item[]>(second, 'order/list', { order_id: id })).body.data[0];
  expect(await item('done')).toMatchObject({ status: 'completed' });
  for (const id of ['pending', 'queued'])
    await until(
      () => item(id),
      (order) => order?.status === 'completed',
    );
  await until(
    () => new Set(received.map(({ body }) => body.user_order_id)).size,
    (n) => n === 3,
  );
  const state = await (await fetch(`${second.adminUrl}/state`)).json();
  expect(state).toMatchObject({
    executedByOrderId: { done: 1, pending: 1, queued: 1 },
    createsByOrderId: { done: 1, pending: 1, queued: 1 },
  });
  const changes = (await Promise.all(['done', 'pending', 'queued'].map(item))).flatMap(
    (order) => order?.balance_changes ?? [],
  );
  const expected = changes.reduce((sum, { amount_change }) => sum.plus(amount_change), new Big('4000000000'));
  const ledger = (await (await fetch(`${second.adminUrl}/ledger`)).json()) as Record<string, string>;
  expect(ledger.uah).toBe(expected.toFixed());
  expect(await second.end('SIGTERM')).toBe(0);
});

test('a half-written last line is cut off, what was answered is still there', async () => {
  const dataDir = newFolder();
  const before = await start({ dataDir });
  const { body } = await create(before, 'withdraw', 'kept');
  await finalItem(before, 'kept');
  await before.close();
  await appendFile(join(dataDir, 'journal.ndjson'), '{"kind":"order","ord');
  const after = await start({ dataDir });
  expect((await call(after, 'order/status', { order_id: 'kept' })).body.data).toMatchObject({
    order_uuid: body.data.order_uuid,
    status: 'completed',
  });
  await create(after, 'withdraw', 'next');
  await after.close();
  // Written onto the half line instead of after it, the next order would be lost here.
  expect(Object.keys((await start({ dataDir })).stats().executedByOrderId)).toEqual(['kept', 'next']);
});

test('every mistake in the environment is one line, values unshown, exit 2', async () => {
  const sandbox = startProcess('sandbox/main.ts', {
    ...FREE_PORTS,
    SANDBOX_PORT: '70000',
    SANDBOX_SIGNER: 'md5',
    SANDBOX_TIME_SCALE: 'fast',
    SANDBOX_API_SECRET: 'a b',
  });
  expect(await sandbox.exited).toBe(2);
  const lines = sandbox.stderr().trim().split('\n').sort();
  expect(lines.map((line) => line.split(':')[0])).toEqual([
    'SANDBOX_API_SECRET',
    'SANDBOX_PORT',
    'SANDBOX_SIGNER',
    'SANDBOX_TIME_SCALE',
  ]);
  expect(sandbox.stderr()).not.toMatch(/a b|md5|70000|fast/);
});
