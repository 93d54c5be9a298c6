import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AuditRecord } from '../../src/audit/audit-record.js';
import { answer, startServer } from '../payment-service/server.fixture.js';
import { orderInput } from '../support/inputs.js';
import { activitiesFor, attemptOf, openActivities } from './activity-lab.fixture.js';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'audit-sends-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

/** What stands in the folder now. */
const textIn = (folder: string): string =>
  readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('');

const sendsIn = (folder: string) =>
  textIn(folder)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ event }) => event === 'send');

async function openRecord() {
  const folder = await mkdtemp(join(root, 'f-'));
  return { folder, audit: await AuditRecord.open(folder, () => undefined) };
}

describe('the audit record of sends', () => {
  it('stands on the disk when the service gets the first byte of a create', async () => {
    const { folder, audit } = await openRecord();
    const seen: string[] = [];
    const server = await startServer((response, { path }) => {
      if (!path.endsWith('/order/withdraw')) return answer(response, []);
      seen.push(textIn(folder));
      return answer(response, '{}', 500);
    });
    const run = await activitiesFor({ baseUrl: server.baseUrl }, { audit });
    expect(await run('createOrder', attemptOf('withdraw'))).toMatchObject({ kind: 'uncertain' });
    expect(seen).toHaveLength(1);
    expect(seen[0]).toContain('"event":"send"');
  });

  it('says what, for whom, by which run and on what permission, and no wallet or e-mail', async () => {
    const { folder, audit } = await openRecord();
    const { run } = await openActivities({}, { audit });
    const input = orderInput('withdraw', 'withdraw-1');
    const order = { ...input.order, client_info: { client_email: 'jane@example.com' }, description: 'rent of Jane' };
    await run('createOrder', attemptOf('withdraw', { ...input, order }, { permission: 'absent', provenIn: 'run-1' }));
    expect(sendsIn(folder)).toMatchObject([
      {
        event: 'send',
        account: 'default',
        workflowId: 'order:default:x',
        runId: 'run-1',
        id: expect.stringMatching(/^run-1\//),
        type: 'withdraw',
        permission: 'absent',
        provenIn: 'run-1',
        request: { order_id: 'withdraw-1', currency: 'usd', network: 'card', amount: '12.50', wallet: '****1111' },
      },
    ]);
    expect(textIn(folder)).not.toMatch(/4111111111111111|jane|rent|secret/i);
  });

  it('has no line for what is not sent', async () => {
    const { folder, audit } = await openRecord();
    const { run } = await openActivities({}, { audit });
    await run('createOrder', attemptOf('withdraw', undefined, { permission: 'none' }));
    expect(sendsIn(folder)).toEqual([]);
  });

  it.each(['first', 'absent'] as const)('that cannot be written lets nothing be sent: %s', async (permission) => {
    const { folder, audit } = await openRecord();
    const { run, sandbox } = await openActivities({}, { audit });
    const attempt = attemptOf('withdraw', undefined, { permission });
    await rename(folder, `${folder}.gone`);
    await writeFile(folder, '');
    expect(await run('createOrder', attempt)).toMatchObject({
      kind: 'notSent',
      reason: expect.stringMatching(/^the audit record cannot be written \(ENOTDIR\): see to AUDIT_DIR/),
    });
    expect(sandbox.stats().createsByOrderId).toEqual({});
    await rm(folder);
    await rename(`${folder}.gone`, folder);
    expect(await run('createOrder', attempt)).toMatchObject({ kind: 'accepted' });
    expect(sendsIn(folder)).toHaveLength(1);
  });
});
