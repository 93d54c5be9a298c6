import { expect, test, vi } from 'vitest';
import type { OrderHandle } from '../../../src/client/order-handle.js';
import { ORDER_CALLBACK_SIGNAL } from '../../../src/contract/names.js';
import { resetTo, resettableEvents, runOf, WITHOUT_UPDATES } from '../../reliability/reset.fixture.js';
import { useLab } from '../../support/lab.js';
import { runStarterWith, wordsOf } from '../../support/run-starter.js';
import { parkedFor, startSteered } from '../compensation/parked-orders.fixture.js';

/* Revisions are counted anew in the run that a reset makes: a decision says of which run they are. */

const PARTIAL = 'outcome=completed_partially fraction=0.6';

const lab = useLab();

/** A payout that asks what becomes of its remainder. */
const parked = async () => {
  const { orderId, handle } = await startSteered(lab, 'withdraw', { marker: PARTIAL, compensation: 'ask' });
  return { orderId, handle, shown: await parkedFor(handle) };
};

/** Resets it to its start; resolves when it asks again. */
async function askAgainAfterReset(handle: OrderHandle) {
  const run = await runOf(lab, handle);
  await resetTo(lab, run, (await resettableEvents(lab, run))[0] ?? '', WITHOUT_UPDATES);
  return parkedFor(handle);
}

const starter = (argv: readonly string[]) => runStarterWith(async () => lab.orders, argv);

/** The command that `order show` suggests for an action, filled in. */
async function suggested(orderId: string, action: string): Promise<string[]> {
  const { stdout } = await starter(['order', 'show', orderId, '--json']);
  const lines: string[] = JSON.parse(stdout).decide;
  const line = lines.find((one) => one.includes(`--action ${action} `)) ?? '';
  return wordsOf(line.replace('<your name>', 'ann').replace('<why>', 'agreed'));
}

test('a command typed for the run before a reset is refused, though the revision is the same', async () => {
  const { orderId, handle, shown } = await parked();
  const typed = await suggested(orderId, 'accept');
  const now = await askAgainAfterReset(handle);
  expect(now.revision).toBe(shown.revision);
  const refused = await starter(typed);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('was reset') });
  expect(await handle.state()).toMatchObject({ phase: 'parked', revision: now.revision });
  expect(await starter(await suggested(orderId, 'accept'))).toMatchObject({ code: 0 });
  expect(await handle.result()).toMatchObject({ decisions: [{ action: 'accept' }] });
});

test('a command without its run decides nothing, and shows what there is to decide on', async () => {
  const { orderId, handle, shown } = await parked();
  const typed = await suggested(orderId, 'accept');
  const blind = typed.slice(0, typed.indexOf('--run'));
  expect(await starter(blind)).toMatchObject({ code: 2, stdout: expect.stringContaining(`--run ${shown.runId}`) });
  expect(await handle.state()).toEqual(shown);
});

test('a decision that a reset repeats is not taken by the run that it makes', async () => {
  const { handle, shown } = await parked();
  const run = await runOf(lab, handle);
  const before = (await resettableEvents(lab, run)).length;
  await lab.temporal.client.workflow.getHandle(handle.workflowId).signal(ORDER_CALLBACK_SIGNAL, {});
  const events = await vi.waitUntil(async () => {
    const now = await resettableEvents(lab, run);
    return now.length > before && now;
  }, 60_000);
  const { revision, runId } = shown;
  await handle.decide({ action: 'accept', by: 'ann', reason: 'too early', revision, runId });
  await handle.result();
  // To the very state that was decided on: the revision is the same when the update comes again.
  await resetTo(lab, run, events.at(-1) ?? '');
  expect(await parkedFor(handle)).toMatchObject({ revision });
  expect((await handle.state()).runId).not.toBe(runId);
  expect(await handle.isOpen()).toBe(true);
});
