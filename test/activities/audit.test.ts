import { createHash, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { AuditRecord } from '../../src/audit/audit-record.js';
import { verifyAudit } from '../../src/audit/verify.js';
import type { CheckSignatureInput } from '../../src/contract/signature.js';
import { CARD } from '../contract/inputs.fixture.js';
import { answer, startServer } from '../payment-service/server.fixture.js';
import { newFolder } from '../support/batch-files.js';
import { orderInput } from '../support/inputs.js';
import { activitiesFor, attemptOf, openActivities } from './activity-lab.fixture.js';

const root = newFolder(afterAll);

/** What stands in the folder now. */
const textIn = (folder: string): string =>
  readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('');

const linesIn = (folder: string) =>
  textIn(folder)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

const sendsIn = (folder: string) => linesIn(folder).filter(({ event }) => event === 'send');

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

  it('shows two acts where a restored Temporal scheduled the same create again, and both were sent', async () => {
    const { folder, audit } = await openRecord();
    const { run } = await openActivities({ faults: { 'create.500-before': 1 } }, { audit });
    const scheduledMs = Date.now();
    await run('createOrder', attemptOf('withdraw'), { scheduledMs });
    await run('createOrder', attemptOf('withdraw'), { scheduledMs: scheduledMs + 60_000 });
    const ids = sendsIn(folder).map(({ id }) => id);
    expect({ sends: ids.length, acts: new Set(ids).size }).toEqual({ sends: 2, acts: 2 });
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

  it('says up to which amount an order above a cap was approved', async () => {
    const { folder, audit } = await openRecord();
    const { run } = await openActivities({}, { audit, caps: new Map([['usd', '10']]) });
    const approved = { amount: '12.50', currency: 'usd' };
    await run('createOrder', attemptOf('withdraw', undefined, { approved }));
    const choice = { action: 'approve', ...approved, by: 'ann', reason: 'meant', revision: 2 };
    await run('checkSignature', { account: 'default', update: 'decide', choice });
    expect(linesIn(folder).filter(({ event }) => event !== 'opened')).toMatchObject([
      { event: 'send', approved },
      { event: 'decide', choice },
    ]);
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

describe('the audit record of choices', () => {
  /** What anybody who can have this activity run may hand to it. */
  const chosen = async (choice: object, update = 'decide', account = 'default') => {
    const { folder, audit } = await openRecord();
    const { run } = await openActivities({}, { audit });
    const input = { account, update, choice, paused: choice } as unknown as CheckSignatureInput;
    const answer = await run('checkSignature', input);
    const found = await verifyAudit(readdirSync(folder).map((name) => join(folder, name)));
    expect(found.files.map(({ problems }) => problems)).toEqual([[]]);
    return { answer, lines: linesIn(folder).slice(1), text: textIn(folder) };
  };

  it('has a frame that no choice takes the place of', async () => {
    const frame = { v: 7, file: 'f', seq: 77, at: '2020-01-01T00:00:00Z', prev: 'p', id: 'order-of-somebody/1' };
    const own = {
      event: 'send',
      account: 'ceo',
      workflowId: 'order:default:bonus',
      // Of any other run it is refused, and leaves no line.
      runId: 'run-1',
      attempt: 9,
      keyId: 'k',
    };
    const { lines } = await chosen({ ...frame, ...own, continues: {}, action: 'accept', by: 'Ann', revision: 3 });
    expect(lines).toMatchObject([
      {
        v: 1,
        seq: 1,
        event: 'decide',
        account: 'default',
        workflowId: 'order:default:x',
        runId: 'run-1',
        choice: { action: 'accept', by: 'Ann', revision: 3, at: '2020-01-01T00:00:00Z' },
      },
    ]);
    expect(lines[0]).not.toHaveProperty('keyId');
    expect(lines[0]).not.toHaveProperty('continues');
    expect(Object.keys(lines[0].choice)).toEqual(['action', 'by', 'revision', 'at']);
  });

  it.each<object>([
    { wallet: CARD },
    { action: CARD },
    { revision: Number(CARD) },
    { revision: -Number(CARD) },
    { revision: CARD },
    { reason: { said: CARD } },
    { by: [CARD] },
    { by: `ann ${CARD}` },
    { order_uuid: CARD },
    { order_uuid: `${'x '.repeat(100)}${CARD}` },
    { differences: [CARD, { field: CARD }] },
    { differences: CARD },
    { digest: CARD },
    { revertTo: { network: CARD, wallet: CARD, wallet_memo: CARD } },
    { revertTo: CARD },
    { wallet_details: [{ amount: CARD, wallet: CARD, name: CARD }] },
    { wallet_details: { recipient_name: CARD } },
    { pausedAt: CARD },
    { [CARD]: 1 },
  ])('shows no card, wherever it stands: %j', async (choice) => {
    expect((await chosen(choice)).text).not.toContain(CARD);
  });

  it('shows no card and no IBAN that somebody typed in groups', async () => {
    const reason = 'card 4111 1111 1111 1111, not 5555-5555-5555-4444 or DE89 3704 0044 0532 0130 00';
    const { lines } = await chosen({ by: 'ann 3782 822463 10005', reason, action: 'accept' });
    const choice = { by: 'ann ****', reason: 'card ****, not **** or ****', action: 'accept' };
    expect(lines).toMatchObject([{ choice, paused: choice }]);
  });

  it('keeps ids, digests and times as they are', async () => {
    const choice = {
      digest: createHash('sha256').update('plan').digest('hex'),
      order_uuid: randomUUID(),
      pausedAt: new Date().toISOString(),
      differences: ['amount_from', 'wallet_to'],
    };
    expect((await chosen(choice)).lines).toMatchObject([{ choice, paused: choice }]);
  });

  it.each(['send', 'opened', 'pause', CARD])('has no line for an update that nobody signs: %s', async (update) => {
    const { answer, lines } = await chosen({ by: 'Ann' }, update);
    expect(answer).toMatchObject({ kind: 'refused' });
    expect(lines).toEqual([]);
  });
});
