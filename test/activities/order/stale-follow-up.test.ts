import { describe, expect, test, vi } from 'vitest';
import type { Sandbox } from '../../../sandbox/index.js';
import type { CreateOrderInput } from '../../../src/contract/order/activities.js';
import { basisOf } from '../../../src/contract/order/basis.js';
import { Limiter } from '../../../src/payment-service/limiter.js';
import { orderInput } from '../../support/inputs.js';
import {
  activitiesFor,
  attemptOf,
  failureOf,
  openActivities,
  operations,
  outcomeOf,
  type RunActivity,
} from '../activity-lab.fixture.js';
import { sendByHand } from './by-hand.fixture.js';

/** An order that ended partially, and the input of its follow-up. */
async function followedUp({ sandbox, run }: { sandbox: Sandbox; run: RunActivity }) {
  const parent = orderInput('withdraw', 'w-1', { marker: 'outcome=completed_partially fraction=0.4' });
  await run('createOrder', attemptOf('withdraw', parent));
  await expect.poll(() => sandbox.orders()[0]?.order.status).toBe('completed_partially');
  const orderUuid = sandbox.orders()[0]?.order.order_uuid ?? '';
  const reading = await outcomeOf(run, { account: 'default', orderId: 'w-1', orderUuid });
  const { order } = orderInput('withdraw', 'w-1.r1');
  return { order: { ...order, amount: '5' }, followUpOf: [basisOf(reading)] };
}

const attempt = (input: unknown, changes: Partial<CreateOrderInput> = {}) =>
  attemptOf('withdraw', input, { followUp: true, ...changes });

const asked = (sandbox: Sandbox, from: number) => operations(sandbox).slice(from);

test('a follow-up reads its order anew, then probes, then is sent', async () => {
  const lab = await openActivities();
  const input = await followedUp(lab);
  const before = operations(lab.sandbox).length;
  expect(await lab.run('createOrder', attempt(input))).toMatchObject({ kind: 'accepted' });
  expect(asked(lab.sandbox, before)).toEqual(['list', 'list', 'status', 'list', 'create']);
});

test('a follow-up beside which one exists that it was not made for is not sent', async () => {
  const lab = await openActivities();
  const input = await followedUp(lab);
  const second = { ...input, order: { ...input.order, order_id: 'w-1.r2' } };
  expect(await lab.run('createOrder', attempt(second))).toMatchObject({ kind: 'accepted' });
  const reason = /^w-1\.r2 \(.*\) exists, which is not known to what this was made for$/;
  expect(await lab.run('createOrder', attempt(input))).toMatchObject({
    kind: 'stale',
    reason: expect.stringMatching(reason),
  });
  expect(lab.sandbox.stats().createsByOrderId['w-1.r1']).toBeUndefined();
});

test('a follow-up whose order the service shows twice is not sent', async () => {
  const lab = await openActivities({ duplicateMode: 'c' });
  const input = await followedUp(lab);
  await sendByHand(lab.sandbox, orderInput('withdraw', 'w-1').order);
  const reason = expect.stringMatching(/^w-1 \(.*\) exists, which is not known/);
  expect(await lab.run('createOrder', attempt(input))).toMatchObject({ kind: 'stale', reason });
});

describe('under a limit, a follow-up is not sent on an older reading than its probe', () => {
  /** The order turns into completed once a list request was answered that names `id`. */
  async function limited(id: string, meanwhile?: (limiter: Limiter) => void) {
    const limiter = new Limiter();
    const lab = await openActivities({}, { limiter });
    const input = await followedUp(lab);
    const before = lab.sandbox.requests().length;
    limiter.setRate(2);
    const answer = lab.run('createOrder', attempt(input, { sentTo: lab.sentTo }));
    const since = () => lab.sandbox.requests().slice(before);
    const isRead = () => since().some(({ orderId, orderIds }) => orderId === id || orderIds?.includes(id));
    await vi.waitUntil(isRead, { timeout: 10_000, interval: 5 });
    meanwhile?.(limiter);
    lab.sandbox.turnOrder(lab.sandbox.orders()[0]?.order.order_uuid ?? '', 'completed');
    const reason = expect.stringContaining('order w-1 has changed since this was made for it');
    expect(await answer).toMatchObject({ kind: 'stale', reason });
  }

  test('if its order changes after the list was read', () => limited('w-1.r2'));

  test('if its turn comes so late that it probes again', () =>
    limited('w-1.r1', (limiter) => {
      for (let others = 0; others < 8; others += 1) void limiter.ask('create', { priority: 1 });
    }));
});

test('a follow-up that was there before is taken up, and not sent where the service shows it no more', async () => {
  const lab = await openActivities();
  const input = await followedUp(lab);
  expect(await lab.run('createOrder', attempt(input))).toMatchObject({ kind: 'accepted' });
  const [{ order, balance_changes: changes } = { order: undefined, balance_changes: [] }] = lab.sandbox
    .orders()
    .filter(({ order: { user_order_id: id } }) => id === 'w-1.r1');
  if (!order) throw new Error('it was sent');
  const seen = { ...input, followUpOf: [...input.followUpOf, basisOf({ order, changes } as never)] };
  expect(await lab.run('createOrder', attempt(seen))).toMatchObject({ kind: 'adopted' });
  lab.sandbox.removeOrder(order.order_uuid);
  expect(await lab.run('createOrder', attempt(seen))).toMatchObject({ kind: 'stale' });
  expect(lab.sandbox.stats().createsByOrderId['w-1.r1']).toBe(1);
});

test('soon after Temporal was restored nothing of a follow-up counts that is not shown: only its own id is looked for', async () => {
  const lab = await openActivities();
  const input = await followedUp(lab);
  const before = operations(lab.sandbox).length;
  const restored = await activitiesFor({ baseUrl: lab.sandbox.url, ...lab.sandbox }, { restoredAtMs: Date.now() });
  expect(await restored('createOrder', attempt(input))).toMatchObject({
    kind: 'notSent',
    restoredAtMs: expect.any(Number),
  });
  const reads = lab.sandbox.requests().slice(-1);
  expect(asked(lab.sandbox, before).filter((name) => name !== 'balances')).toEqual(['list']);
  expect(reads).toMatchObject([{ orderId: 'w-1.r1' }]);
});

describe('a follow-up whose order turned into completed', () => {
  async function turned({ sent = false } = {}) {
    const lab = await openActivities();
    const input = await followedUp(lab);
    if (sent) await lab.run('createOrder', attempt(input));
    lab.sandbox.turnOrder(lab.sandbox.orders()[0]?.order.order_uuid ?? '', 'completed');
    return { ...lab, input, before: operations(lab.sandbox).length };
  }

  test('is not sent', async () => {
    const { run, sandbox, input, before } = await turned();
    const answer = await run('createOrder', attempt(input));
    const reason = 'order w-1 has changed since this was made for it (status)';
    expect(answer).toMatchObject({ kind: 'stale', reason });
    expect(asked(sandbox, before)).toEqual(['list', 'list', 'status', 'list']);
  });

  test('is followed where it exists already', async () => {
    const { run, sandbox, input } = await turned({ sent: true });
    expect((await run('createOrder', attempt(input))).kind).toBe('adopted');
    expect(sandbox.stats().createsByOrderId['w-1.r1']).toBe(1);
  });

  test('is settled, not closed, where a create of it may be on its way', async () => {
    const { run, input } = await turned();
    const unsure = await run('createOrder', attempt(input, { permission: 'none' }));
    expect(unsure).toMatchObject({ kind: 'uncertain', reason: 'an earlier create is not proven absent' });
    const reset = await run('createOrder', attempt(input), { runId: 'run-2' });
    expect(reset).toMatchObject({ kind: 'uncertain', reset: true });
  });
});

test.for(['status.503', 'list.401', 'list.malformed', 'status.unseen', 'status.other-amount'])(
  'a follow-up whose order cannot be read is not sent (%s)',
  async (fault) => {
    const lab = await openActivities();
    const input = await followedUp(lab);
    lab.sandbox.set({ faults: { [fault]: 1 } });
    const answer = await lab.run('createOrder', attempt(input));
    expect(['notSent', 'stale']).toContain(answer.kind);
    expect(lab.sandbox.stats().createsByOrderId).not.toHaveProperty('w-1.r1');
  },
);

test('a follow-up that does not know what it was made for is refused', async () => {
  const { run, sandbox } = await openActivities();
  const failure = await failureOf(run('createOrder', attempt(orderInput('withdraw', 'w-1.r1'))));
  expect(failure).toMatchObject({ type: 'InvalidOrder', message: expect.stringContaining('followUpOf: required') });
  expect(operations(sandbox)).toEqual([]);
});

test('an order that is no follow-up cannot claim to be made for another one', async () => {
  const lab = await openActivities();
  const { order, followUpOf } = await followedUp(lab);
  const input = { order: { ...order, order_id: 'w-2' }, followUpOf };
  const failure = await failureOf(lab.run('createOrder', attemptOf('withdraw', input)));
  expect(failure).toMatchObject({ type: 'InvalidOrder', message: expect.stringContaining('followUpOf: belongs to') });
});
