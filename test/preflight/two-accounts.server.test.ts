import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { msToTs } from '@temporalio/common/lib/time.js';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startFront } from '../../sandbox/front.js';
import { type Sandbox, startSandbox } from '../../sandbox/index.js';
import { PaymentOrders } from '../../src/client.js';
import { newFolder } from '../support/batch-files.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId } from '../support/lab.js';
import { accountsEnv, type Env, startProcess, temporalEnv, useProcesses } from '../worker/process.fixture.js';

const top = newFolder(afterAll);
const temporal = useProcesses();
beforeAll(async () => {
  const config = { workflowExecutionRetentionTtl: msToTs(30 * 86_400_000) };
  await temporal.client.workflowService.updateNamespace({ namespace: temporal.namespace, config });
});

/** Opens a service with two keys of its merchants, and writes the accounts file that names them. */
async function openFront(keys: Record<string, Sandbox>) {
  const front = await startFront(Object.entries(keys).map(([apiKey, sandbox]) => ({ path: '', apiKey, sandbox })));
  onTestFinished(async () => {
    await front.close();
    for (const sandbox of new Set(Object.values(keys))) await sandbox.close();
  });
  const path = join(top, `${newOrderId('accounts')}.json`);
  const write = (accounts: Record<string, { apiKey: string; apiKeyPredecessors?: unknown[] }>) => {
    const common = { baseUrl: front.url, apiSecret: 'sandbox-secret', signer: 'hmac-sha256' };
    const whole = Object.entries(accounts).map(([name, account]) => [name, { ...common, ...account }]);
    return writeFile(path, JSON.stringify(Object.fromEntries(whole)), { mode: 0o600 });
  };
  return { write, env: { ...accountsEnv(temporalEnv(temporal), path), BATCH_DIR: top } };
}

interface Found {
  check: string;
  level: string;
  text: string;
}

/** What `doctor` finds, notes left out, and the accounts that it shows. */
async function doctor(env: Env): Promise<{ found: Found[]; accounts: Record<string, string> }> {
  const run = startProcess('src/starter.ts', env, { args: ['doctor', '--json'] });
  await run.exited;
  const { findings, accounts } = JSON.parse(run.stdout()) as { findings: Found[]; accounts: Record<string, string> };
  return { found: findings.filter(({ level }) => level !== 'note'), accounts };
}

test("keys of two accounts that stand under each other's names are found, while an open order shows where its account is", async () => {
  const [one, two] = [await startSandbox({ apiKey: 'merchant-one' }), await startSandbox({ apiKey: 'merchant-two' })];
  const { write, env } = await openFront({ 'key-of-one': one, 'key-of-two': two });
  const orders = new PaymentOrders(temporal.client);
  await write({ eu: { apiKey: 'key-of-one' }, us: { apiKey: 'key-of-two' } });
  const before = startProcess('src/worker.ts', env);
  await before.ready;
  const input = orderInput('withdraw', newOrderId('known'), { marker: 'after_ms=600000' });
  const known = await orders.start('withdraw', { ...input, account: 'eu' });
  await known.created();
  before.kill('SIGTERM');
  await before.exited;
  const { accounts } = await doctor(env);
  const swapped = { eu: { apiKey: 'key-of-two' }, us: { apiKey: 'key-of-one' } };
  await write(swapped);
  const { found } = await doctor(env);
  expect(found.map(({ check, level }) => `${level} ${check}`)).toEqual(['error order-accounts']);
  const ids = /\(http:\S+#[0-9a-f]{16}, and this worker uses http:\S+#[0-9a-f]{16}\)/;
  expect(found[0]?.text).toMatch(/^account eu: .* were sent to another account/);
  expect(found[0]?.text).toMatch(ids);
  // Named as its successor, as doctor showed it before, the other key is the same account.
  await write({ ...swapped, eu: { ...swapped.eu, apiKeyPredecessors: [accounts.eu?.split('#')[1]] } });
  expect((await doctor(env)).found).toEqual([]);
  await write(swapped);
  const after = startProcess('src/worker.ts', env);
  expect(await after.ready).toMatchObject({ findings: 'order-accounts:eu' });
});

test('two keys of one merchant under two names are found and refused: the same order id under both would be paid twice', async () => {
  const one = await startSandbox();
  const { write, env } = await openFront({ 'first-key-of-one': one, 'second-key-of-one': one });
  await write({ north: { apiKey: 'first-key-of-one' }, south: { apiKey: 'second-key-of-one' } });
  const { found } = await doctor(env);
  const text = expect.stringContaining('north and south show the same wallets');
  expect(found.filter(({ level }) => level === 'error')).toMatchObject([{ check: 'shared-wallets', text }]);
  const worker = startProcess('src/worker.ts', env);
  expect(await worker.exited).toBe(2);
  expect(worker.stderr()).toContain(found[0]?.text);
});
