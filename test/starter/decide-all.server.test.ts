import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DecideAllInput, DecideAllPlan } from '../../src/client/decide-all.js';
import type { OrderHandle } from '../../src/client/order-handle.js';
import { signTogether } from '../../src/client/signing.js';
import { PaymentOrders } from '../../src/client.js';
import { KEYS, testApprovers } from '../support/approvers.js';
import { newFolder } from '../support/batch-files.js';
import { orderInput } from '../support/inputs.js';
import { type Lab, newOrderId, openLab } from '../support/lab.js';
import { runStarterWith } from '../support/run-starter.js';
import { parkedFor, startSteered } from '../workflows/compensation/parked-orders.fixture.js';

const WAIT = { timeout: 60_000, interval: 200 };

let lab: Lab;
const folder = newFolder(afterAll);
beforeAll(async () => {
  await mkdir(join(folder, 'audit'));
  await writeFile(join(folder, 'ann.pem'), KEYS.ann.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600 });
  lab = await openLab({ limits: { approvers: testApprovers(), auditDir: join(folder, 'audit') } });
});
afterAll(() => lab?.close());

const starter = (...args: string[]) => runStarterWith(async () => new PaymentOrders(lab.temporal.client), args);

/** A payout of which something is left, and a person is asked about it. */
async function parked(): Promise<OrderHandle> {
  const steered = { marker: 'outcome=completed_partially fraction=0.6', compensation: 'ask' } as const;
  const { handle } = await startSteered(lab, 'withdraw', steered);
  await parkedFor(handle);
  return handle;
}

/** So many of them, in the order in which they began to wait. */
async function several(count: number): Promise<OrderHandle[]> {
  const handles: OrderHandle[] = [];
  while (handles.length < count) handles.push(await parked());
  return handles;
}

const ACCEPT: DecideAllInput = {
  code: 'remainder',
  action: 'accept',
  by: 'Ann Smith',
  reason: 'the rest is not wanted',
};
const COMMAND = ['order', 'decide', '--all', '--by', ACCEPT.by, '--reason', ACCEPT.reason];
const ACCEPT_ALL = [...COMMAND, '--code', 'remainder', '--action', 'accept'];

const idsOf = (handles: readonly OrderHandle[]): string[] => handles.map(({ orderId }) => orderId);

/** The list that a command shows, once Temporal's lists show all of the orders. */
async function listed(handles: readonly OrderHandle[]): Promise<DecideAllPlan> {
  const shown = async () =>
    (await lab.orders.planDecisions(ACCEPT)).orders
      .map(({ orderId }) => orderId)
      .filter((id) => idsOf(handles).includes(id));
  await expect.poll(shown, WAIT).toEqual(idsOf(handles));
  const plan = await lab.orders.planDecisions(ACCEPT);
  return { ...plan, orders: plan.orders.filter(({ orderId }) => idsOf(handles).includes(orderId)) };
}

const auditOf = async (handles: readonly OrderHandle[]) => {
  const files = await readdir(join(folder, 'audit'));
  const texts = await Promise.all(files.map((name) => readFile(join(folder, 'audit', name), 'utf8')));
  const ids = handles.map(({ workflowId }) => workflowId);
  return texts
    .flatMap((text) => text.trim().split('\n'))
    .map((line) => JSON.parse(line) as { event: string; workflowId: string; keyId?: string })
    .filter(({ event, workflowId }) => event === 'decide' && ids.includes(workflowId));
};

describe('order decide --all', () => {
  test('shows the list oldest first, decides nothing unconfirmed, and then all of it by one signature', async () => {
    const handles = await several(4);
    const whole = await listed(handles);
    const { code, stdout } = await starter(...ACCEPT_ALL, '--json');
    expect(code).toBe(0);
    const { plan } = JSON.parse(stdout) as { plan: DecideAllPlan };
    expect(plan).toMatchObject({ account: 'default', left: [], more: 0, withoutAmount: 0, amounts: { usd: '50' } });
    expect(plan.orders.map(({ orderId }) => orderId)).toEqual(idsOf(handles));
    const times = whole.orders.map(({ since }) => since.getTime());
    expect(times).toEqual([...times].sort((a, b) => a - b));

    const unconfirmed = await starter(...ACCEPT_ALL);
    expect(unconfirmed).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(new RegExp(`${plan.digest}[^]*nothing was decided`)),
    });
    const dry = await starter(...ACCEPT_ALL, '--digest', plan.digest, '--dry-run');
    expect(dry).toMatchObject({ code: 0, stdout: expect.stringContaining('nothing was decided') });
    const other = await starter(...ACCEPT_ALL, '--digest', 'a'.repeat(64));
    expect(other).toMatchObject({ code: 2, stdout: expect.stringContaining('the list is no longer the one') });
    for (const handle of handles) expect((await handle.state()).phase).toBe('parked');

    const key = ['--key', join(folder, 'ann.pem')];
    const decided = await starter(...ACCEPT_ALL, '--digest', plan.digest, ...key);
    expect(decided).toMatchObject({ code: 0, stdout: expect.stringContaining('decided: 4 orders') });
    expect(decided.stderr).toContain('what is decided stands');
    for (const handle of handles) {
      expect(await handle.result()).toMatchObject({ decisions: [{ action: 'accept', by: 'Ann Smith' }] });
    }
    const lines = await auditOf(handles);
    expect(lines.map(({ workflowId }) => workflowId).sort()).toEqual(
      handles.map(({ workflowId }) => workflowId).sort(),
    );
    expect(new Set(lines.map(({ keyId }) => keyId)).size).toBe(1);
    const signatures = await Promise.all(handles.map(signatureIn));
    expect(new Set(signatures).size).toBe(1);
  });

  test('says which orders were refused, also since they ended, and which do not take it', async () => {
    const [first, changed, gone, last] = (await several(4)) as [OrderHandle, OrderHandle, OrderHandle, OrderHandle];
    const plan = await listed([first, changed, gone, last]);
    const { code: _, ...decision } = ACCEPT;
    await gone.decide({ ...decision, revision: (await gone.state()).revision }, { signer: KEYS.ann });
    await gone.result();
    // Its revision is another one since a cancellation was asked for; that it takes a decision at all must be looked at again.
    await changed.cancel();
    await expect.poll(async () => (await changed.state()).cancelRequested, WAIT).toBe(true);
    const shown = plan.orders.find(({ orderId }) => orderId === changed.orderId)?.decision.revision ?? 0;
    const stale = (await changed.state()).revision !== shown;
    const result = await lab.orders.decideAll(plan, { signer: KEYS.ann });
    expect(result.open).toEqual([]);
    const taken = [first, last, ...(stale ? [] : [changed])];
    expect(result.decided.sort()).toEqual(idsOf(taken).sort());
    const refused = [[gone.orderId, 'it has ended'], ...(stale ? [[changed.orderId, 'stale']] : [])];
    expect(result.refused).toHaveLength(refused.length);
    for (const [orderId, why] of refused) {
      expect(result.refused).toContainEqual({ orderId, why: expect.stringContaining(why ?? '') });
    }
    const { code, stdout } = await starter(...COMMAND, '--code', 'remainder', '--action', 'adopt', '--json');
    expect(code).toBe(0);
    const none = (JSON.parse(stdout) as { plan: DecideAllPlan }).plan;
    expect(none.orders).toEqual([]);
    expect(none.left.map(({ orderId }) => orderId)).toEqual(expect.arrayContaining(idsOf(stale ? [changed] : [])));
  });

  test('leaves out an order of which more than its absence is known', async () => {
    const start = () => {
      const input = orderInput('withdraw', newOrderId('alone'), { marker: 'create=503-before', resend: 'never' });
      return lab.orders.start('withdraw', input);
    };
    const [plain, cancelled] = [await start(), await start()];
    for (const handle of [plain, cancelled]) await parkedFor(handle);
    await cancelled.cancel();
    await expect.poll(async () => (await cancelled.state()).cancelRequested, WAIT).toBe(true);
    const RESEND = { ...ACCEPT, code: 'uncertain-create', action: 'resend' } as const;
    const planned = async () => {
      const { orders, left } = await lab.orders.planDecisions(RESEND);
      return { orders: orders.map(({ orderId }) => orderId), left };
    };
    const why = 'it was cancelled: decide it alone';
    await expect.poll(planned, WAIT).toEqual({ orders: [plain.orderId], left: [{ orderId: cancelled.orderId, why }] });
  });

  test('without a signature, or with one for other orders, decides nothing', async () => {
    const [one, other] = (await several(2)) as [OrderHandle, OrderHandle];
    const plan = await listed([one, other]);
    const unsigned = await lab.orders.decideAll(plan);
    expect(unsigned.decided).toEqual([]);
    expect(unsigned.refused.map(({ why }) => why)).toEqual(
      Array.from({ length: 2 }, () => expect.stringContaining('takes nothing unsigned')),
    );
    const [first, second] = plan.orders;
    if (!first || !second) throw new Error('both are listed');
    const run = { namespace: lab.temporal.namespace, account: 'default', workflowId: other.workflowId };
    const forOther = { run: { ...run, runId: second.decision.runId ?? '' }, decision: second.decision };
    const signature = await signTogether([forOther], KEYS.ann);
    await expect(one.decide({ ...first.decision, signature })).rejects.toThrow('does not match this choice and run');
    // Somebody without the right signs both.
    const zed = await lab.orders.decideAll(plan, { signer: KEYS.zed });
    expect(zed.decided).toEqual([]);
    for (const handle of [one, other]) expect((await handle.state()).phase).toBe('parked');
  });

  test.each([
    [[...COMMAND, '--action', 'accept']],
    [[...COMMAND.slice(0, 2), 'o-1', ...COMMAND.slice(2), '--code', 'remainder', '--action', 'accept']],
    [[...ACCEPT_ALL, '--revision', '3']],
    [['order', 'decide', 'o-1', '--action', 'accept', '--by', 'Ann', '--reason', 'x', '--digest', 'a']],
    [['order', 'decide', '--action', 'accept', '--by', 'Ann', '--reason', 'x']],
  ])('%j is no command', async (args) => {
    expect(await starter(...args)).toMatchObject({ code: 2, stderr: expect.stringContaining('name either one order') });
  });
});

/** What was signed for the decision in a history. */
async function signatureIn({ workflowId }: OrderHandle): Promise<string> {
  const { events } = await lab.temporal.client.workflow.getHandle(workflowId).fetchHistory();
  const payloads = (events ?? []).flatMap(
    (event) => event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input?.args?.payloads ?? [],
  );
  const [decision] = payloads.map((payload) => JSON.parse(Buffer.from(payload.data ?? []).toString()));
  return decision.signature.value;
}
