import { Client } from '@temporalio/client';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/index.js';
import { loadWorkerConfig } from '../../src/config.js';
import { SEARCH_ATTRIBUTES } from '../../src/contract/names.js';
import { startMonitoring } from '../../src/monitoring/server.js';
import { findingsOf } from '../../src/preflight/checks.js';
import { keepChecking } from '../../src/preflight/start.js';
import { openAccounts } from '../../src/worker/accounts.js';
import { useNamespace } from '../support/temporal.js';
import { openRotatedKeys, type RotatedKeys } from '../worker/rotated-keys.fixture.js';

const temporal = useNamespace();
let sandbox: Sandbox;
let service: RotatedKeys;
beforeAll(async () => {
  sandbox = await startSandbox();
  service = await openRotatedKeys();
});
afterAll(async () => {
  await service?.close();
  await sandbox?.close();
});

/** Checks a worker's settings five times a second, over the connection that its workers have, and serves what is found. */
async function checked() {
  service.allow('rotated-key', 'rotated-secret', sandbox);
  const config = loadWorkerConfig({
    PAYMENT_BASE_URL: service.url,
    PAYMENT_API_KEY: 'rotated-key',
    PAYMENT_API_SECRET: 'rotated-secret',
    PAYMENT_SIGNER: 'hmac-sha256',
  });
  const accounts = await openAccounts(config.accounts);
  const client = new Client({ connection: temporal.nativeConnection, namespace: temporal.namespace });
  const check = () => findingsOf({ client, config, accounts }, 'W');
  const told: string[] = [];
  const tell = (level: string, text: string, about: object) => void told.push(JSON.stringify([level, text, about]));
  const checking = keepChecking(await check(), check, tell, 200);
  const registry = new Registry();
  const address = { host: '127.0.0.1', port: 0 };
  const whyNotReady = async () => undefined;
  const server = await startMonitoring(address, { whyNotReady, findings: checking.findings, registry });
  onTestFinished(async () => {
    checking.stop();
    await server?.close();
  });
  const page = async (path: string) => {
    const answer = await fetch(`${server?.url}${path}`);
    return { status: answer.status, text: await answer.text() };
  };
  return { told, page };
}

const series = (check: string, account = ''): string =>
  `payment_orders_check{check="${check}",account="${account}",level="error"} 1`;

test('a key that is taken back later is told, counted and shown at once, though the worker stays ready; and so is its return', async () => {
  const { told, page } = await checked();
  expect(await page('/readyz')).toEqual({ status: 200, text: 'ready\nwarning retention\n' });
  expect((await page('/metrics')).text).not.toContain('level="error"');

  service.revoke('rotated-key');
  const shown = async () => expect((await page('/metrics')).text).toContain(series('signed-read', 'default'));
  await vi.waitFor(shown, { timeout: 60_000 });
  expect(await page('/readyz')).toEqual({ status: 200, text: 'ready\nwarning retention\nerror signed-read:default\n' });
  expect(told).toEqual([expect.stringMatching(/^\["error","account default: .*HTTP 401.*"account":"default"/)]);

  service.allow('rotated-key', 'rotated-secret', sandbox);
  const gone = async () => expect((await page('/metrics')).text).not.toContain('level="error"');
  await vi.waitFor(gone, { timeout: 60_000 });
  expect(told).toHaveLength(2);
  expect(told[1]).toContain('error no more: signed-read:default');
});

test('a search attribute that somebody removes is told, with the command that makes it anew', async () => {
  const { told, page } = await checked();
  const { namespace, client } = temporal;
  const name = Object.keys(SEARCH_ATTRIBUTES).at(-1) ?? '';
  await client.connection.operatorService.removeSearchAttributes({ namespace, searchAttributes: [name] });
  const shown = async () => expect((await page('/metrics')).text).toContain(series('search-attributes'));
  await vi.waitFor(shown, { timeout: 60_000 });
  expect(told).toEqual([expect.stringContaining(`search-attribute create --namespace ${namespace} --name ${name}`)]);
});
