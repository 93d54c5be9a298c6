import { describe, expect, test, vi } from 'vitest';
import { ORDER_CALLBACK_SIGNAL } from '../../../src/contract/names.js';
import { openLab, useLab } from '../../support/lab.js';
import { atService, decideNow, executions, parkedFor, startSteered } from '../compensation/parked-orders.fixture.js';

/** Read at every attempt; tests may change them, as a restart of the workers would. */
const caps = new Map([
  ['usd', '100'],
  ['usdt', '50'],
]);

const lab = useLab({ limits: { caps } });

const creates = (orderId: string): number => lab.sandbox.stats().createsByOrderId[orderId] ?? 0;

describe('an order above the cap of its currency', () => {
  test('waits for a person with nothing sent, and is sent once when approved', async () => {
    const { orderId, handle } = await startSteered(lab, 'exchange', { marker: '', order: { amount: '100.01' } });
    const { attention } = await parkedFor(handle, '100.01 usd is above the cap of 100 usd');
    expect(attention?.allowed).toEqual(['approve', 'refuse']);
    expect(creates(orderId)).toBe(0);
    const approved = { action: 'approve', amount: '100.01', currency: 'usd' };
    expect(attention).toMatchObject({ code: 'over-cap', amount: '100.01', currency: 'usd' });
    const { decisions } = await handle.state();
    expect(decisions[0]).toMatchObject({ does: expect.stringContaining('100.01 usd'), decision: approved });
    await decideNow(handle, 'approve');
    const result = await handle.result();
    expect(result).toMatchObject({ outcome: 'completed', decisions: [{ ...approved, by: 'ann' }] });
    expect(creates(orderId)).toBe(1);
  });

  test('an order at the cap is sent without asking', async () => {
    const { handle } = await startSteered(lab, 'exchange', { marker: '', order: { amount: '100.00' } });
    expect((await handle.result()).outcome).toBe('completed');
  });
});

/** Terms of an exchange into tron, where 50,251 usd become the 441,700 trx of this order. */
const BY_AMOUNT_TO = { amount: undefined, currency_to: 'trx', amount_to: '441700' };

describe('the side of an order that its request does not give', () => {
  test('counts, estimated: 441,700 trx cost 50,251 usd, far above the cap of 100', async () => {
    lab.sandbox.set({ balances: { usd: '100000', trx: '1000' } });
    const { orderId, handle } = await startSteered(lab, 'exchange_withdraw', { marker: '', order: BY_AMOUNT_TO });
    const { attention } = await parkedFor(handle, 'usd, estimated from the rates, is above the cap of 100 usd');
    expect(attention?.reason).toMatch(/^up to 52[89]\d\d\.\d\d usd/);
    expect(creates(orderId)).toBe(0);
    await decideNow(handle, 'approve');
    expect(await handle.result()).toMatchObject({ outcome: 'completed', decisions: [{ action: 'approve' }] });
    expect(atService(lab, orderId).order.expected_amount_from).toMatch(/^502[5-9]\d\./);
  });

  test('an approval up to what is shown lets it cost no more: it is asked about again, and paid once at what was approved', async () => {
    lab.sandbox.set({ balances: { usd: '100000', trx: '1000' } });
    const order = { ...BY_AMOUNT_TO, amount_to: '5750' };
    const { orderId, handle } = await startSteered(lab, 'exchange_withdraw', { marker: '', order });
    const asked = await parkedFor(handle, 'above the cap of 100 usd');
    const first = asked.attention?.amount ?? '';
    expect(asked.attention).toMatchObject({ currency: 'usd', reason: expect.stringMatching(`^up to ${first} usd, `) });
    try {
      lab.sandbox.set({ pairs: { 'exchange_withdraw usd-trx_tron': { rate: '2.1975' } } });
      await decideNow(handle, 'approve');
      const again = await parkedFor(handle, `${first} usd is approved`);
      const second = again.attention?.amount ?? '';
      expect(Number(second)).toBeGreaterThan(3.9 * Number(first));
      expect(creates(orderId)).toBe(0);
      await decideNow(handle, 'approve');
      const result = await handle.result();
      expect(result).toMatchObject({ outcome: 'completed', decisions: [{ amount: first }, { amount: second }] });
      expect(creates(orderId)).toBe(1);
      expect(Number(atService(lab, orderId).order.expected_amount_from)).toBeLessThanOrEqual(Number(second));
    } finally {
      lab.sandbox.set({ pairs: {} });
    }
  });

  test('is asked about where rates are not to be had and its currency has a cap', async () => {
    const blind = await openLab({ limits: { caps }, sandbox: { settings: { faults: { 'rates.500': 1 } } } });
    try {
      const { orderId, handle } = await startSteered(blind, 'exchange_withdraw', { marker: '', order: BY_AMOUNT_TO });
      await parkedFor(handle, 'what it takes in usd cannot be estimated, and there is a cap of 100 usd');
      expect(blind.sandbox.stats().createsByOrderId[orderId] ?? 0).toBe(0);
      await decideNow(handle, 'refuse');
      const { handle: uncapped } = await startSteered(blind, 'exchange', { marker: '', order: { amount: '100' } });
      expect((await uncapped.result()).outcome).toBe('completed');
    } finally {
      await blind.close();
    }
  });
});

test.each([false, true])(
  'an order above a cap is cancelled while the service is silent, called back: %s',
  async (isCalled) => {
    caps.set('eur', '1');
    const { handle } = await startSteered(lab, 'withdraw', { marker: '', order: { currency: 'eur' } });
    await parkedFor(handle, 'above the cap of 1 eur');
    lab.sandbox.set({ faults: { 'list.500': 1, 'status.500': 1 } });
    const workflow = lab.temporal.client.workflow.getHandle(handle.workflowId);
    if (isCalled) await workflow.signal(ORDER_CALLBACK_SIGNAL);
    await workflow.cancel();
    try {
      const ended = handle.result({ timeoutMs: isCalled ? 5_000 : 60_000 });
      // A callback tells of an order, so the end waits for an answer.
      await expect(ended).rejects.toMatchObject(isCalled ? { kind: 'notDecidedYet' } : { type: 'OrderCancelled' });
    } finally {
      lab.sandbox.set({ faults: {} });
    }
    if (isCalled)
      expect((await parkedFor(handle, 'a callback came for it')).attention?.allowed).toContain('close-absent');
  },
);

/**
 * Executed, and hidden from all look-ups before the decision: three to five that settle it, each of which reads two pages of the list,
 * and a probe. A busy machine makes three, and three more after the decision, the last of which shows it.
 */
const HIDDEN = 'create=500 callback=drop list=unseen list_times=12 status=unseen status_times=6';

describe('an order whose first create is unclear and whose re-send is above a cap', () => {
  /** Starts it without a cap; the cap comes after the first create. */
  async function askedAtResend(marker: string) {
    caps.delete('eur');
    const started = await startSteered(lab, 'withdraw', { marker, order: { currency: 'eur' } });
    await vi.waitFor(() => expect(creates(started.orderId)).toBe(1), 60_000);
    caps.set('eur', '1');
    const { attention } = await parkedFor(started.handle, 'above the cap of 1 eur');
    expect(attention?.allowed).toEqual(['approve', 'refuse']);
    return started;
  }

  test('closes, when it is refused, only after absence was proven once more', async () => {
    const { orderId, handle } = await askedAtResend('create=500-before');
    const before = lab.requestsOf(orderId).length;
    await decideNow(handle, 'refuse');
    await expect(handle.result()).rejects.toMatchObject({ type: 'OrderAbsent' });
    // Three readings by list and status.
    expect(lab.requestsOf(orderId).length - before).toBeGreaterThanOrEqual(6);
    expect([creates(orderId), executions(lab, orderId)]).toEqual([1, 0]);
  });

  test('is followed, although it is refused, when it turns out to exist', async () => {
    const { orderId, handle } = await askedAtResend(HIDDEN);
    await decideNow(handle, 'refuse');
    const result = await handle.result();
    expect(result).toMatchObject({ outcome: 'completed', adopted: true, decisions: [{ action: 'refuse' }] });
    expect([creates(orderId), executions(lab, orderId)]).toEqual([1, 1]);
  });

  test('is followed without a decision when callbacks come and it turns out to exist', async () => {
    const { orderId, handle } = await askedAtResend(HIDDEN);
    const workflow = lab.temporal.client.workflow.getHandle(handle.workflowId);
    const heard = async () => {
      // The last ones may come when it has ended.
      await workflow.signal(ORDER_CALLBACK_SIGNAL).catch(() => undefined);
      expect((await handle.state()).order).not.toBeNull();
    };
    await vi.waitFor(heard, { timeout: 60_000, interval: 500 });
    const result = await handle.result();
    expect(result).toMatchObject({ outcome: 'completed', adopted: true });
    expect(result.decisions).toBeUndefined();
    expect([creates(orderId), executions(lab, orderId)]).toEqual([1, 1]);
  });
});
