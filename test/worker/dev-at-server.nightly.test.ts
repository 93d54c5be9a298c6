import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { openGrpcGate } from '../../scripts/temporal/grpc-gate.js';
import { SEARCH_ATTRIBUTES } from '../../src/contract/names.js';
import {
  CLIENT_CERTIFICATE,
  CLIENT_KEY,
  TLS_CERTIFICATE,
  TLS_SIGNED_CERTIFICATE,
} from '../payment-service/certificates.fixture.js';
import { newFolder } from '../support/batch-files.js';
import { runProgram } from '../support/command.js';
import { useNamespace } from '../support/temporal.js';
import { createBareNamespace } from './bare-namespace.fixture.js';

const DEV = fileURLToPath(new URL('../../scripts/dev.ts', import.meta.url));
const API_KEY = 'key-of-the-test';

const folder = newFolder(afterAll);
const temporal = useNamespace();

const runDev = (env: Record<string, string>) =>
  runProgram(folder, [process.execPath, '--import', import.meta.resolve('tsx'), DEV], env);

/** The server behind TLS, which wants a certificate of the client and an API key. */
async function securedServer(): Promise<Record<string, string>> {
  const tls = {
    key: CLIENT_KEY,
    cert: TLS_SIGNED_CERTIFICATE,
    ca: TLS_CERTIFICATE,
    requestCert: true,
    rejectUnauthorized: true,
  };
  const gate = await openGrpcGate(temporal.address, { tls, apiKey: API_KEY });
  onTestFinished(() => gate.close());
  const files = { SERVER_CA_CERT: TLS_CERTIFICATE, CLIENT_CERT: CLIENT_CERTIFICATE, CLIENT_KEY };
  const paths = Object.entries(files).map(async ([name, text]) => {
    const path = join(folder, `${name}.pem`);
    await writeFile(path, text, { mode: 0o600 });
    return [`TEMPORAL_TLS_${name}_PATH`, path];
  });
  return {
    TEMPORAL_ADDRESS: gate.address.replace('127.0.0.1', 'localhost'),
    TEMPORAL_API_KEY: API_KEY,
    ...Object.fromEntries(await Promise.all(paths)),
  };
}

test('at a server with TLS and an API key, and a namespace without search attributes, a payout ends', async () => {
  const { client } = temporal;
  const namespace = await createBareNamespace(client.connection);
  const secured = await securedServer();
  const dev = await runDev({ ...secured, TEMPORAL_NAMESPACE: namespace });
  expect(dev.ready).toMatchObject({ temporal: secured.TEMPORAL_ADDRESS, namespace, ui: '-' });
  const { customAttributes } = await client.connection.operatorService.listSearchAttributes({ namespace });
  expect(Object.keys(customAttributes).sort()).toEqual(Object.keys(SEARCH_ATTRIBUTES).sort());
  const order = { order_id: 'dev-tls', currency: 'usd', network: 'card', amount: '12.50', wallet: '4111111111111111' };
  const answer = await fetch(`${dev.ready.api}/v1/orders?wait=60`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ order_type: 'withdraw', order }),
  });
  expect(await answer.json()).toMatchObject({ orderId: 'dev-tls' });
  await expect
    .poll(async () => (await fetch(`${dev.ready.api}/v1/orders/dev-tls`)).json(), { timeout: 60_000, interval: 500 })
    .toMatchObject({ outcome: 'completed' });
  expect(await dev.interrupt()).toEqual([]);
});

test('a namespace that does not exist, and a search attribute of another type, are named with the command to run', async () => {
  const { client, address } = temporal;
  const { TEMPORAL_API_KEY: _, ...withoutKey } = await securedServer();
  await expect(runDev(withoutKey)).rejects.toThrow(`cannot reach Temporal at ${withoutKey.TEMPORAL_ADDRESS}`);
  const none = runDev({ TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: 'no-such-one' });
  await expect(none).rejects.toThrow('no such namespace no-such-one. Create it: temporal operator namespace create');
  const namespace = await createBareNamespace(client.connection);
  const [name = ''] = Object.keys(SEARCH_ATTRIBUTES);
  await client.connection.operatorService.addSearchAttributes({ namespace, searchAttributes: { [name]: 4 } });
  const wrong = runDev({ TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace });
  await expect(wrong).rejects.toThrow(`search-attribute remove --yes --namespace ${namespace} --name ${name}`);
});
