import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { tsToMs } from '@temporalio/common/lib/time.js';
import { expect, onTestFinished, test } from 'vitest';
import { type DevServer, freePort, startDevServer } from '../../scripts/temporal/dev-server.js';
import { SEARCH_ATTRIBUTES } from '../../src/contract/names.js';
import { newFolder } from '../support/batch-files.js';

const log = (): void => {};

async function clientOf(server: DevServer): Promise<Client> {
  const connection = await Connection.connect({ address: server.address });
  onTestFinished(() => connection.close());
  return new Client({ connection, namespace: server.namespace });
}

test('a killed server starts again on its database and ports, and its workflows are still there', async () => {
  const options = { log, dbFile: join(newFolder(), 'temporal.db'), port: await freePort() };

  const first = await startDevServer(options);
  onTestFinished(() => first.kill());
  const before = await clientOf(first);
  const { firstExecutionRunId } = await before.workflow.start('anything', { workflowId: 'kept', taskQueue: 'nobody' });
  await first.kill();
  expect(() => process.kill(first.pid, 0)).toThrow('ESRCH');

  const second = await startDevServer(options);
  onTestFinished(() => second.stop());
  expect(second.address).toBe(first.address);
  const after = await clientOf(second);
  const description = await after.workflow.getHandle('kept').describe();
  expect(description).toMatchObject({ runId: firstExecutionRunId, status: { name: 'RUNNING' } });
});

test('a new server keeps closed workflows for 30 days, knows the search attributes and serves the Web UI', async () => {
  const server = await startDevServer({ log, uiPort: true });
  onTestFinished(() => server.stop());
  const { connection } = await clientOf(server);
  const { namespace } = server;

  const { config } = await connection.workflowService.describeNamespace({ namespace });
  expect(tsToMs(config?.workflowExecutionRetentionTtl)).toBe(30 * 24 * 3600 * 1000);
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  expect(Object.keys(customAttributes ?? {})).toEqual(expect.arrayContaining(Object.keys(SEARCH_ATTRIBUTES)));
  expect((await fetch(`${server.uiUrl}/`)).status).toBe(200);
});

test('a stopped server listens no longer and leaves no process', async () => {
  const server = await startDevServer({ log });
  await server.stop();
  expect(() => process.kill(server.pid, 0)).toThrow('ESRCH');
  const port = Number(server.address.split(':')[1]);
  await expect(
    new Promise((resolve, reject) => connect(port, '127.0.0.1', () => resolve('connected')).on('error', reject)),
  ).rejects.toThrow('ECONNREFUSED');
});

test('a taken port is refused instead of talking to the server that has it', async () => {
  const running = await startDevServer({ log });
  onTestFinished(() => running.stop());
  const port = Number(running.address.split(':')[1]);
  await expect(startDevServer({ log, port })).rejects.toThrow('EADDRINUSE');
});

test('a start that fails shows what the server wrote', async () => {
  const dbFile = join(newFolder(), 'temporal.db');
  await writeFile(dbFile, 'this is not a database, and long enough to be looked at by SQLite. '.repeat(20));
  await expect(startDevServer({ log, dbFile })).rejects.toThrow(/did not start: it ended with 1\n.*not a database/s);
});
