import type { KeyObject } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { BatchHandle } from '../../../src/client/batch/batch-handle.js';
import { signed } from '../../../src/client/signing.js';
import type { BatchInput } from '../../../src/contract/batch/batch.js';
import type { SignedRun } from '../../../src/contract/signature.js';
import { resetTo, resettableEvents, runOf, WITHOUT_UPDATES } from '../../reliability/reset.fixture.js';
import { KEYS, testApprovers } from '../../support/approvers.js';
import { detailsOf, pasteableIn } from '../order/details.fixture.js';
import { executedOf, startRows, testRows, untilPhase, untilState, useBatchLab } from './batches.fixture.js';

const lab = useBatchLab({ limits: { approvers: testApprovers() } });

/** A batch whose plan waits. Its starter is Ann, by another spelling. */
async function waiting(label: string, options: Partial<BatchInput> = {}) {
  const rows = testRows(label, 3);
  const batch = await startRows(lab, rows, { approval: 'required', startedBy: 'ANN  smith', ...options });
  const { plan } = await untilPhase(batch, 'awaitingApproval');
  return { rows, batch, digest: plan?.digest ?? '' };
}

/** What a client without our library sends: Temporal takes any update. */
const sendRaw = (on: BatchHandle, update: string, argument: object): Promise<string> =>
  lab.temporal.client.workflow
    .getHandle(on.workflowId)
    .executeUpdate(update, { args: [argument] })
    .then(
      () => 'taken',
      (error: Error) => String(error.cause ?? error),
    );

const signedRunOf = async (batch: BatchHandle): Promise<SignedRun> => ({
  namespace: lab.temporal.namespace,
  account: 'default',
  ...(await runOf(lab, batch)),
});

const approvalOf = (digest: string, by: string, key: KeyObject, run: SignedRun) =>
  signed({ digest, by }, key, { update: 'approve', run });

describe.concurrent('a batch of an account of APPROVERS_FILE', () => {
  test('is paid once two persons signed its plan, and says whose approval it waits for', async () => {
    const { rows, batch, digest } = await waiting('two');
    await batch.approve({ digest, by: 'Ann Smith' }, { signer: KEYS.ann });
    const { phase, attention, approvals } = await batch.state();
    expect({ phase, attention }).toEqual({
      phase: 'awaitingApproval',
      attention: 'its plan waits for the approval of a second person',
    });
    expect(approvals).toMatchObject([{ by: 'Ann Smith' }]);
    expect(executedOf(lab, rows)).toBe(0);
    await batch.approve({ digest, by: 'Bob Jones' }, { signer: KEYS.bob });
    expect((await batch.result()).outcomes.completed).toBe(3);
    expect(await batch.state()).toMatchObject({
      approvedBy: 'Ann Smith and Bob Jones',
      approvals: [{ by: 'Ann Smith' }, { by: 'Bob Jones' }],
    });
  });

  test('is paid for no unsigned approval, whoever it says it is', async () => {
    const { rows, batch, digest } = await waiting('unsigned');
    expect(await sendRaw(batch, 'approve', { digest, by: 'Chief Operator' })).toContain('takes nothing unsigned');
    await expect(batch.approve({ digest, by: 'Bob Jones' })).rejects.toThrow('takes nothing unsigned');
    expect(await sendRaw(batch, 'approve', { digest, by: 'Bob Jones', signature: 'yes' })).toContain('must be {keyId');
    expect(await batch.state()).toMatchObject({ phase: 'awaitingApproval' });
    expect((await batch.state()).approvals).toBeUndefined();
    expect(executedOf(lab, rows)).toBe(0);
  });

  test('is paid for no single person: neither by two keys, nor under two names, nor twice', async () => {
    const { rows, batch, digest } = await waiting('single');
    await batch.approve({ digest, by: 'Ann Smith' }, { signer: KEYS.ann });
    const again: [string, KeyObject, string][] = [
      ['Ann Smith', KEYS.ann, 'has approved it already'],
      ['Ann Smith', KEYS.annAgain, 'has approved it already'],
      ['ＡＮＮ Smith', KEYS.annAgain, 'this key requires the name Ann Smith'],
      ['Bob Jones', KEYS.annAgain, 'this key requires the name Ann Smith'],
      ['Cid Low', KEYS.cid, 'Cid Low may not approve'],
      ['Bob Jones', KEYS.zed, 'no person of APPROVERS_FILE'],
    ];
    for (const [by, signer, why] of again) await expect(batch.approve({ digest, by }, { signer })).rejects.toThrow(why);
    expect(await batch.state()).toMatchObject({ phase: 'awaitingApproval', approvals: [{ by: 'Ann Smith' }] });
    expect(executedOf(lab, rows)).toBe(0);
  });

  test('keeps no line of an approval that one person gives twice', async () => {
    const { batch, digest } = await waiting('repeated');
    await batch.approve({ digest, by: 'Ann Smith' }, { signer: KEYS.ann });
    await expect(batch.approve({ digest, by: 'Ann Smith' }, { signer: KEYS.ann })).rejects.toThrow(
      'has approved it already',
    );
    const { events = [] } = await lab.temporal.client.workflow.getHandle(batch.workflowId).fetchHistory();
    const checks = events?.filter(
      (event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'checkSignature',
    );
    expect(checks).toHaveLength(1);
  });

  test('is paid for no approval of another digest, batch, namespace, account or use', async () => {
    const { rows, batch, digest } = await waiting('elsewhere');
    const other = await waiting('other');
    const run = await signedRunOf(batch);
    const wrong: [object, string][] = [
      [await approvalOf(other.digest, 'Bob Jones', KEYS.bob, run), 'is not that of the plan'],
      [{ ...(await approvalOf(other.digest, 'Bob Jones', KEYS.bob, run)), digest }, 'does not match this choice'],
      [await approvalOf(digest, 'Bob Jones', KEYS.bob, await signedRunOf(other.batch)), 'does not match this choice'],
      [await approvalOf(digest, 'Bob Jones', KEYS.bob, { ...run, namespace: 'x' }), 'does not match this choice'],
      [await approvalOf(digest, 'Bob Jones', KEYS.bob, { ...run, account: 'x' }), 'does not match this choice'],
      [await signed({ digest, by: 'Bob Jones' }, KEYS.bob, { update: 'decide', run }), 'does not match this choice'],
    ];
    for (const [sent, why] of wrong) expect(await sendRaw(batch, 'approve', sent)).toContain(why);
    expect((await batch.state()).approvals).toBeUndefined();
    expect(executedOf(lab, [...rows, ...other.rows])).toBe(0);
  });

  // The plan that the reset run makes anew has the same digest only while nobody else's payouts change the balance: then once more.
  test.sequential('is paid for no approval that was signed for the run before a reset', async () => {
    for (let attempt = 1; ; attempt += 1) {
      const { rows, batch, digest } = await waiting(`reset-${attempt}`);
      const run = await signedRunOf(batch);
      const [ann, bob] = [
        await approvalOf(digest, 'Ann Smith', KEYS.ann, run),
        await approvalOf(digest, 'Bob Jones', KEYS.bob, run),
      ];
      const [first = ''] = await resettableEvents(lab, run);
      await resetTo(lab, run, first, WITHOUT_UPDATES);
      const { plan } = await untilState(batch, (state) => state.phase === 'awaitingApproval');
      if (plan?.digest !== digest && attempt < 10) continue;
      expect(plan?.digest).toBe(digest);
      for (const sent of [ann, bob])
        expect(await sendRaw(batch, 'approve', sent)).toContain('does not match this choice');
      expect(executedOf(lab, rows)).toBe(0);
      return;
    }
  });

  test('is refused without approval: whoever could start it with one could as well start it without', async () => {
    const rows = testRows('without', 2);
    const batch = await startRows(lab, rows, { startedBy: 'zed' });
    await expect(batch.result()).rejects.toThrow('approval: must be required');
    expect(executedOf(lab, rows)).toBe(0);
  });
});

describe.concurrent('a paused batch of an account of APPROVERS_FILE', () => {
  const BY = { by: 'night shift', reason: 'a call from the bank' };
  // Enough of them that the batch is not done before a busy machine has paused it a second time.
  const ROWS = 16;
  const SLOW = () => 'after_ms=300';

  async function paused(label: string) {
    const rows = testRows(label, ROWS, SLOW);
    const batch = await startRows(lab, rows, { approval: 'required', maxInFlight: 2 });
    const digest = (await untilPhase(batch, 'awaitingApproval')).plan?.digest ?? '';
    await batch.approve({ digest, by: 'Dan High' }, { signer: KEYS.dan });
    await batch.approve({ digest, by: 'Bob Jones' }, { signer: KEYS.bob });
    await untilState(batch, ({ progress }) => progress.started > 0);
    // Whoever sees something wrong may stop it: that pays nobody.
    await batch.pause(BY);
    const state = await untilState(batch, ({ phase, progress }) => phase === 'paused' && progress.open.length === 0);
    return { rows, batch, state };
  }

  test('goes on for no unsigned resume, and for none that was signed for an earlier pause', async () => {
    const { rows, batch, state } = await paused('resume');
    const before = executedOf(lab, rows);
    expect(await sendRaw(batch, 'resume', { ...BY, pausedAt: state.paused?.at })).toContain('takes nothing unsigned');
    const resume = { by: 'Bob Jones', reason: 'settled' };
    await expect(batch.resume({ ...resume, by: 'Cid Low' }, { signer: KEYS.cid })).rejects.toThrow('may not approve');
    expect(executedOf(lab, rows)).toBe(before);
    const named = { ...resume, pausedAt: state.paused?.at };
    const old = await signed(named, KEYS.bob, { update: 'resume', run: await signedRunOf(batch) });
    expect(await sendRaw(batch, 'resume', old)).toBe('taken');
    await untilState(batch, ({ progress }) => progress.started > before);
    await batch.pause(BY);
    const { progress, paused: again } = await untilState(
      batch,
      (now) => now.phase === 'paused' && now.progress.open.length === 0,
    );
    expect(progress.started).toBeLessThan(ROWS);
    expect(await sendRaw(batch, 'resume', old)).toContain('pausedAt: must be');
    const moved = { ...old, pausedAt: again?.at };
    expect(await sendRaw(batch, 'resume', moved)).toContain('does not match this choice');
    expect(executedOf(lab, rows)).toBe(progress.started);
    await batch.resume(resume, { signer: KEYS.bob });
    expect((await batch.result()).outcomes.completed).toBe(ROWS);
  });

  test('is stopped without a key', async () => {
    const { batch, rows, state } = await paused('stop');
    await batch.stop(BY);
    await batch.result();
    expect(executedOf(lab, rows)).toBe(state.progress.started);
  });
});

test('the page of a batch that waits names the command, and holds only the stop', async () => {
  const { batch } = await waiting('page');
  const details = await detailsOf(lab, batch);
  expect(details).toContain(`\`payment-orders batch show ${batch.batchId}\` prints the command`);
  expect(details).toContain('Two approvers of the account must sign. If nobody does before ');
  expect(pasteableIn(details).map(({ update }) => update)).toEqual(['stop']);
});
