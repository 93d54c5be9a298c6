import { describe, expect, test, vi } from 'vitest';
import type { OrderHandle } from '../../../src/client/order-handle.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId } from '../../support/lab.js';
import { decideNow, parkedFor } from '../compensation/parked-orders.fixture.js';
import {
  acceptLater,
  attentionSays,
  executedAtBoth,
  openTwoAccounts,
  orderRequests,
  PLACES,
  type TwoAccounts,
} from './two-accounts.fixture.js';

/** Longer than the lag, so that the right account shows the order before its absence would be believed. */
const SETTLE_MS = 2_500;

/** Executed, answered 500, and shown once nobody can be misled by it any more. */
const UNSEEN = 'create=500 lag_ms=1500 duplicate=c';

/** No balances are to be had. */
const NO_BALANCES = { 'balances.500': 1 };

const executions = ({ lab }: TwoAccounts, { orderId }: OrderHandle) =>
  lab.sandbox.stats().executedByOrderId[orderId] ?? 0;

/** Starts a payout at the first place; the worker is gone once the service executed it. */
async function sendUnseen(accounts: TwoAccounts, marker = UNSEEN): Promise<OrderHandle> {
  const { lab, workAt } = accounts;
  const handle = await lab.orders.start('withdraw', orderInput('withdraw', newOrderId('elsewhere'), { marker }));
  await workAt(PLACES.first);
  await vi.waitFor(() => expect(lab.sandbox.stats().createsByOrderId[handle.orderId]).toBe(1), 60_000);
  // The worker that sent it must not find it before it is gone, however long that takes.
  const { faults } = accounts;
  lab.sandbox.set({ faults: { ...faults, 'list.500': 1, 'status.500': 1 } });
  await lab.stopWorkers();
  lab.sandbox.set({ faults });
  return handle;
}

const CASES = [
  { title: 'another key on the same host', place: PLACES.otherKey, says: /back, list \w{16} as a predecessor if/ },
  {
    title: 'another path in the base URL',
    place: PLACES.otherPath,
    says: /was sent to http:\S+\/one#\w+, but this worker uses http:\S+\/two#\w+: /,
  },
  {
    title: 'another key and URL, and balances are not to be had',
    place: PLACES.otherBoth,
    faults: NO_BALANCES,
    says: /Set base URL and key of account default back\. After an approval only/,
  },
];

describe('an executed create is uncertain, and the worker comes back with', () => {
  test.for(CASES)('$title: nothing is sent there; set back it goes on by itself', async ({ place, says, faults }) => {
    const accounts = await openTwoAccounts(SETTLE_MS, { faults });
    const { lab, other, workAt } = accounts;
    const handle = await sendUnseen(accounts);
    await workAt(place);
    const { phase, attention } = await attentionSays(handle, says);
    expect({ phase, allowed: attention?.allowed }).toEqual({ phase: 'uncertain', allowed: ['approve'] });
    expect(attention?.reason).not.toContain(place.apiKey);
    // Longer than absence takes to be proven where it may be.
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS + 1_000));
    expect(orderRequests(other)).toEqual([]);

    await workAt(PLACES.first);
    expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: true });
    expect((await handle.state()).attention).toBeUndefined();
    expect(executions(accounts, handle)).toBe(1);
    expect(orderRequests(other)).toEqual([]);
    expect(lab.sandbox.stats().createsByOrderId).toEqual({ [handle.orderId]: 1 });
  });

  test('a rotated key that names its predecessor: it goes on by itself', async () => {
    const accounts = await openTwoAccounts(SETTLE_MS);
    const handle = await sendUnseen(accounts);
    await accounts.workAt(PLACES.rotated, PLACES.first);
    const result = await handle.result();
    expect(result).toMatchObject({ outcome: 'completed', adopted: true });
    expect(result.decisions).toBeUndefined();
    expect(executions(accounts, handle)).toBe(1);
  });
});

describe('where nothing says that it is the same account, a person confirms it once', () => {
  const MOVES = [
    { title: 'its key was rotated, and names no predecessor', place: PLACES.rotated },
    { title: 'its base URL moved', place: PLACES.moved },
  ];

  test.for(MOVES)('$title', async ({ place }) => {
    const accounts = await openTwoAccounts(SETTLE_MS);
    const handle = await sendUnseen(accounts);
    await accounts.workAt(place);
    const { attention } = await attentionSays(handle, /After an approval only/);
    expect(attention?.allowed).toEqual(['approve']);
    await decideNow(handle, 'approve');
    const decisions = [expect.objectContaining({ action: 'approve', by: 'ann' })];
    expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: true, decisions });
    expect(executions(accounts, handle)).toBe(1);
  });

  test('from then on nothing is sent again by the budget, only by a person', async () => {
    const accounts = await openTwoAccounts(1_000);
    const handle = await sendUnseen(accounts, 'create=500-before');
    await accounts.workAt(PLACES.rotated);
    await attentionSays(handle, /After an approval only/);
    await decideNow(handle, 'approve');
    await parkedFor(handle, 'the service shows no such order');
    expect(accounts.lab.sandbox.stats().createsByOrderId).toEqual({ [handle.orderId]: 1 });
    await decideNow(handle, 'resend');
    expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: false });
    expect(executions(accounts, handle)).toBe(1);
  });
});

test('a permitted re-send is worth nothing at a place that was confirmed after it: absence is proven there first', async () => {
  const accounts = await openTwoAccounts(1_000);
  const { lab, workAt } = accounts;
  const input = orderInput('withdraw', newOrderId('leave'), { marker: 'create=500-before', resend: 'never' });
  const handle = await lab.orders.start('withdraw', input);
  await workAt(PLACES.first);
  await parkedFor(handle);
  await lab.stopWorkers();
  const resent = decideNow(handle, 'resend');
  await workAt(PLACES.moved);
  await resent;
  await attentionSays(handle, /After an approval only/);
  expect((await handle.state()).phase).toBe('uncertain');
  await decideNow(handle, 'approve');
  await parkedFor(handle, 'the service shows no such order');
  expect(lab.sandbox.stats().createsByOrderId).toEqual({ [handle.orderId]: 1 });
  await decideNow(handle, 'resend');
  expect(await handle.result()).toMatchObject({ outcome: 'completed' });
  expect(executions(accounts, handle)).toBe(1);
});

test('an order that is parked in doubt says that it waits for its account, then asks its own question again', async () => {
  const accounts = await openTwoAccounts(1_000);
  const { other, workAt } = accounts;
  const input = orderInput('withdraw', newOrderId('doubt'), { marker: 'create=500-before' });
  const handle = await accounts.lab.orders.start('withdraw', input);
  await workAt(PLACES.first);
  await parkedFor(handle, 'This order continues by itself once');
  await workAt(PLACES.otherBoth);
  const { attention } = await attentionSays(handle, /but this worker uses/);
  expect(attention).toMatchObject({ code: 'other-account', allowed: ['approve'] });
  expect(attention?.reason).not.toContain('continues by itself');
  expect(orderRequests(other)).toEqual([]);
  await workAt(PLACES.first);
  const { attention: asked } = await parkedFor(handle, 'This order continues by itself once');
  expect(asked).toMatchObject({ code: 'uncertain-create', allowed: ['resend', 'close-absent', 'adopt'] });
  await acceptLater(accounts, 'later');
  expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: false });
  expect(executions(accounts, handle)).toBe(1);
});

test('an order that lets others go first promises no further send at another account, and a person may confirm it', async () => {
  const accounts = await openTwoAccounts(8_000);
  const { workAt } = accounts;
  const input = orderInput('withdraw', newOrderId('first'), { marker: 'create=500-before' });
  const handle = await accounts.lab.orders.start('withdraw', input);
  await workAt(PLACES.first);
  const waits = async () => (await handle.state()).waitingFor;
  // Not by `expect.poll`, which looks by the real clock.
  await vi.waitFor(async () => expect(await waits()).toContain('then this one is sent again'), 60_000);
  await workAt(PLACES.moved);
  await attentionSays(handle, /but this worker uses/);
  expect(await waits()).not.toContain('sent again');
  await decideNow(handle, 'approve');
  const { attention } = await parkedFor(handle, 'the service shows no such order');
  expect(attention?.allowed).toContain('resend');
  expect(attention?.reason).not.toContain('continues by itself');
});

const PER_KEY = [
  { title: 'an order before it is known there', before: true, says: /does not show orders that it confirmed/ },
  { title: 'none before it is known there', before: false, says: /shows no order that it accepted later/ },
];

test.for(PER_KEY)(
  'the service lists orders per key, and the key is rotated, $title: nothing is sent, a person is asked',
  async ({ before, says }) => {
    const accounts = await openTwoAccounts(SETTLE_MS);
    const { lab, other, workAt } = accounts;
    const accept = async () => {
      const handle = await lab.orders.start('withdraw', orderInput('withdraw', newOrderId('elsewhere')));
      await handle.result();
    };
    await workAt(PLACES.first);
    if (before) await accept();
    const input = orderInput('withdraw', newOrderId('elsewhere'), { marker: `${UNSEEN} callback=drop` });
    const handle = await lab.orders.start('withdraw', input);
    await vi.waitFor(() => expect(lab.sandbox.stats().createsByOrderId[handle.orderId]).toBe(1), 60_000);
    lab.sandbox.set({ faults: { 'list.500': 1, 'status.500': 1 } });
    await lab.stopWorkers();
    lab.sandbox.set({ faults: {} });
    // Its key shows what was sent by it alone.
    await workAt(PLACES.otherKey, PLACES.first);
    await accept();
    const { attention } = await attentionSays(handle, says);
    expect(attention?.allowed).toContain('adopt');
    expect(executedAtBoth(accounts, handle.orderId)).toEqual([1, 0]);
    expect(other.stats().createsByOrderId[handle.orderId]).toBeUndefined();
  },
);

test('an order that is followed while its base URL moves: its callback asks a person, and it ends', async () => {
  const { lab, workAt } = await openTwoAccounts(SETTLE_MS);
  const input = orderInput('withdraw', newOrderId('followed'), { marker: 'after_ms=3000' });
  const handle = await lab.orders.start('withdraw', input);
  await workAt(PLACES.first);
  await handle.created();
  await workAt(PLACES.moved);
  await attentionSays(handle, /After an approval only/);
  expect(await handle.state()).toMatchObject({ phase: 'following', attention: { allowed: ['approve'] } });
  await decideNow(handle, 'approve');
  expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: false });
  expect((await handle.state()).attention).toBeUndefined();
});

test('a follow-up is sent where its order was, and waits where another account answers', async () => {
  const { lab, other, workAt } = await openTwoAccounts(SETTLE_MS, { pace: { confirmDelayMs: 3_000 } });
  const marker = 'outcome=completed_partially fraction=0.4';
  const input = orderInput('withdraw', newOrderId('parent'), { marker, compensation: 'finish' });
  const handle = await lab.orders.start('withdraw', input);
  await workAt(PLACES.first);
  await vi.waitFor(async () => expect((await handle.state()).phase).toBe('compensating'), 60_000);
  await workAt(PLACES.otherKey);
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  expect(other.stats().createsByOrderId).toEqual({});
  await workAt(PLACES.first);
  expect(await handle.result()).toMatchObject({ compensation: { status: 'done', outcome: 'completed' } });
  expect(lab.sandbox.stats().executedByOrderId[`${handle.orderId}.r1`]).toBe(1);
});
