import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { msToTs } from '@temporalio/common/lib/time.js';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startFront } from '../../sandbox/front.js';
import { startSandbox } from '../../sandbox/index.js';
import { PaymentOrders } from '../../src/client.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId } from '../support/lab.js';
import { createTestNamespace, type TestNamespace } from '../support/temporal.js';
import { accountsEnv, type Env, endProcesses, startProcess, temporalEnv } from '../worker/process.fixture.js';

let temporal: TestNamespace;
let top: string;
beforeAll(async () => {
  temporal = await createTestNamespace();
  const config = { workflowExecutionRetentionTtl: msToTs(30 * 86_400_000) };
  await temporal.client.workflowService.updateNamespace({ namespace: temporal.namespace, config });
  top = await mkdtemp(join(tmpdir(), 'silent-'));
});
afterAll(async () => {
  await endProcesses();
  await temporal?.close();
  await rm(top, { recursive: true, force: true });
});

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
  const front = await startFront([
    { path: '', apiKey: 'key-of-one', sandbox: one },
    { path: '', apiKey: 'key-of-two', sandbox: two },
  ]);
  onTestFinished(async () => {
    await front.close();
    await one.close();
    await two.close();
  });
  const account = (apiKey: string) => ({
    baseUrl: front.url,
    apiKey,
    apiSecret: 'sandbox-secret',
    signer: 'hmac-sha256',
  });
  const path = join(top, 'accounts.json');
  const env = { ...accountsEnv(temporalEnv(temporal), path), BATCH_DIR: top };
  const orders = new PaymentOrders(temporal.client);
  await writeFile(path, JSON.stringify({ eu: account('key-of-one'), us: account('key-of-two') }), { mode: 0o600 });
  const before = startProcess('src/worker.ts', env);
  await before.ready;
  const input = orderInput('withdraw', newOrderId('known'), { marker: 'after_ms=600000' });
  const known = await orders.start('withdraw', { ...input, account: 'eu' });
  await known.created();
  before.kill('SIGTERM');
  await before.exited;
  const { accounts } = await doctor(env);
  await writeFile(path, JSON.stringify({ eu: account('key-of-two'), us: account('key-of-one') }), { mode: 0o600 });
  const { found } = await doctor(env);
  expect(found.map(({ check, level }) => `${level} ${check}`)).toEqual(['error order-accounts']);
  const ids = /\(http:\S+#[0-9a-f]{16}, and this worker uses http:\S+#[0-9a-f]{16}\)/;
  expect(found[0]?.text).toMatch(/^account eu: .* were sent to another account/);
  expect(found[0]?.text).toMatch(ids);
  // Named as its successor, as doctor showed it before, the other key is the same account.
  const eu = { ...account('key-of-two'), apiKeyPredecessors: [accounts.eu?.split('#')[1]] };
  await writeFile(path, JSON.stringify({ eu, us: account('key-of-one') }), { mode: 0o600 });
  expect((await doctor(env)).found).toEqual([]);
  await writeFile(path, JSON.stringify({ eu: account('key-of-two'), us: account('key-of-one') }), { mode: 0o600 });
  const after = startProcess('src/worker.ts', env);
  expect(await after.ready).toMatchObject({ findings: 'order-accounts:eu' });
});
