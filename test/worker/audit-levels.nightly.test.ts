import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, expect, test } from 'vitest';
import { PaymentOrders } from '../../src/client.js';
import { newFolder } from '../support/batch-files.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId } from '../support/lab.js';
import { runStarterAlone } from '../support/run-starter.js';
import { startProcess, startSandboxProcess, temporalEnv, useProcesses, workerEnv } from './process.fixture.js';

const folder = newFolder(afterAll);
const temporal = useProcesses();

test.for(['debug', 'warn', 'error'])('LOG_LEVEL=%s logs every line of the audit record', async (level) => {
  const { service } = await startSandboxProcess();
  const at = join(folder, level);
  const env = { ...workerEnv(temporalEnv(temporal), service), AUDIT_DIR: at, LOG_LEVEL: level };
  const worker = startProcess('src/worker.ts', env);
  await worker.ready;
  const order = await new PaymentOrders(temporal.client).start('withdraw', orderInput('withdraw', newOrderId(level)));
  await order.result();
  worker.kill('SIGTERM');
  expect(await worker.exited).toBe(0);

  const [file = ''] = await readdir(at);
  const written = (await readFile(join(at, file), 'utf8')).trimEnd().split('\n');
  const logged = worker.stderr().trimEnd().split('\n');
  const audit = logged.map((line) => JSON.parse(line)).filter(({ auditHash }) => auditHash);
  expect(audit.map(({ msg, audit }) => [msg, JSON.parse(audit).event])).toEqual([
    ['audit', 'opened'],
    ['audit', 'send'],
  ]);
  expect(audit).toHaveLength(written.length);
  // Nothing else passes below the level.
  const others = logged.map((line) => JSON.parse(line)).filter(({ auditHash }) => !auditHash);
  expect(others.filter((line) => line.level < (pino.levels.values[level] ?? 0))).toEqual([]);
  await writeFile(join(folder, `${level}.log`), worker.stderr());
  const verified = await runStarterAlone(['audit', 'verify', at, '--anchors', join(folder, `${level}.log`)]);
  expect(verified).toMatchObject({ code: 0, stdout: expect.stringContaining('2 of 2 anchors found') });
});
