import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { msToTs } from '@temporalio/common/lib/time.js';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startFront } from '../../sandbox/front.js';
import { startSandbox } from '../../sandbox/index.js';
import { createTestNamespace, type TestNamespace } from '../support/temporal.js';
import { accountsEnv, endProcesses, startProcess, temporalEnv } from '../worker/process.fixture.js';

let temporal: TestNamespace;
let top: string;
beforeAll(async () => {
  temporal = await createTestNamespace();
  const config = { workflowExecutionRetentionTtl: msToTs(30 * 86_400_000) };
  await temporal.client.workflowService.updateNamespace({ namespace: temporal.namespace, config });
  top = await mkdtemp(join(tmpdir(), 'two-names-'));
});
afterAll(async () => {
  await endProcesses();
  await temporal?.close();
  await rm(top, { recursive: true, force: true });
});

test('two keys of one merchant under two names are found and refused: the same order id under both would be paid twice', async () => {
  const one = await startSandbox();
  const front = await startFront([
    { path: '', apiKey: 'first-key-of-one', sandbox: one },
    { path: '', apiKey: 'second-key-of-one', sandbox: one },
  ]);
  onTestFinished(async () => {
    await front.close();
    await one.close();
  });
  const account = (apiKey: string) => ({
    baseUrl: front.url,
    apiKey,
    apiSecret: 'sandbox-secret',
    signer: 'hmac-sha256',
  });
  const path = join(top, 'accounts.json');
  const accounts = { eu: account('first-key-of-one'), us: account('second-key-of-one') };
  await writeFile(path, JSON.stringify(accounts), { mode: 0o600 });
  const env = { ...accountsEnv(temporalEnv(temporal), path), BATCH_DIR: top };
  const asked = startProcess('src/starter.ts', env, { args: ['doctor', '--json'] });
  expect(await asked.exited).toBe(1);
  const found = JSON.parse(asked.stdout()).findings.find(({ level }: { level: string }) => level === 'error');
  expect(found).toMatchObject({
    check: 'shared-wallets',
    text: expect.stringContaining('eu and us show the same wallets'),
  });
  const worker = startProcess('src/worker.ts', env);
  expect(await worker.exited).toBe(2);
  expect(worker.stderr()).toContain(found.text);
});
