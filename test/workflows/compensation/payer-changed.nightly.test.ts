import { expect, test } from 'vitest';
import type { OrderHandle } from '../../../src/client/order-handle.js';
import { useLab } from '../../support/lab.js';
import { decideNow, executions, parkedFor, startSteered, trueRemainder } from './parked-orders.fixture.js';

const UAH = { currency: 'uah', network: 'card', amount: '40000' };
const HALF = 'outcome=completed_partially fraction=0.4';
const UNPAID = [{ kind: 'unpaid', currency: 'uah', amount: '16000' }];

const lab = useLab();

const payer = (payerTo: 'client' | 'merchant') => lab.sandbox.set({ pairs: { 'withdraw uah_card': { payerTo } } });

/** Workers with rates just read, in which that one pays. */
async function freshWorkers(payerTo: 'client' | 'merchant'): Promise<void> {
  await lab.stopWorkers();
  payer(payerTo);
  await lab.startWorkers();
  await (await startSteered(lab, 'withdraw', { marker: '', order: UAH })).handle.result();
}

/** Has an order looked up by a callback; a poll does not see who pays. */
async function lookedUp({ workflowId }: OrderHandle, uuid: string): Promise<void> {
  await lab.sandbox.sendCallback(uuid);
  const answered = async () => {
    const { events } = await lab.temporal.client.workflow.getHandle(workflowId).fetchHistory();
    const asked = events?.find(
      ({ activityTaskScheduledEventAttributes: activity }) => activity?.activityType?.name === 'lookUpOrder',
    )?.eventId;
    return events?.some(
      ({ activityTaskCompletedEventAttributes: completed }) =>
        asked && String(completed?.scheduledEventId) === String(asked),
    );
  };
  await expect.poll(answered, { timeout: 60_000 }).toBe(true);
}

test.for([
  { kept: 'merchant', really: 'client', counted: '16245', doubt: 'does not show that the merchant pays' },
  { kept: 'client', really: 'merchant', counted: '15755', doubt: 'was withheld separately' },
] as const)(
  'an order worked with payer $really after rates said $kept is not paid on: $counted is not what is left',
  async (row) => {
    await freshWorkers(row.kept);
    payer(row.really);
    const { orderId, handle } = await startSteered(lab, 'withdraw', {
      marker: HALF,
      order: UAH,
      compensation: 'finish',
    });
    const { attention } = await parkedFor(handle, row.doubt);
    expect(attention?.allowed).toEqual(['accept']);
    await decideNow(handle, 'accept');
    const result = await handle.result();
    expect(result).toMatchObject({
      compensation: { status: 'none' },
      remainderUnknown: expect.stringContaining(row.doubt),
    });
    expect(trueRemainder(lab, orderId)).toEqual(UNPAID);
    expect(executions(lab, `${orderId}.r1`)).toBe(0);
  },
);

test('rates that name another payer at the second reading are a doubt, although the order still fits the first', async () => {
  await freshWorkers('merchant');
  const order = { marker: HALF, order: UAH, compensation: 'ask' } as const;
  const { orderId, handle } = await startSteered(lab, 'withdraw', order);
  expect((await parkedFor(handle)).attention?.reason).toContain('16000 uah are left');
  payer('client');
  await decideNow(handle, 'finish');
  const { attention } = await parkedFor(handle, 'amount_to is paid by merchant, and rates said client later');
  expect(attention?.allowed).toEqual(['accept']);
  expect(executions(lab, `${orderId}.r1`)).toBe(0);
  await decideNow(handle, 'accept');
});

test('a payer that a look-up saw in between stays a doubt, although rates name the first one again', async () => {
  await freshWorkers('merchant');
  const marker = `${HALF} after_ms=3600000`;
  const { orderId, handle } = await startSteered(lab, 'withdraw', { marker, order: UAH, compensation: 'finish' });
  const { order_uuid: uuid } = await handle.created();
  await freshWorkers('client');
  await lookedUp(handle, uuid);
  lab.sandbox.finishAll();
  await handle.final();
  payer('merchant');
  await parkedFor(handle, 'amount_to is paid by merchant, and rates said client later');
  expect(executions(lab, `${orderId}.r1`)).toBe(0);
  await decideNow(handle, 'accept');
});

test('a pair that is gone from rates says nothing: a person decides again when it is back', async () => {
  lab.sandbox.set({ pairs: {} });
  const order = { currency_from: 'eur', network_from: 'card', amount: '100', currency_to: 'usd' };
  const partial = 'outcome=completed_partially fraction=0.4';
  const { orderId, handle } = await startSteered(lab, 'deposit_exchange', {
    marker: partial,
    order,
    compensation: 'ask',
  });
  await parkedFor(handle);
  lab.sandbox.set({ pairs: { 'deposit_exchange eur_card-usd': null } });
  await decideNow(handle, 'finish');
  const { attention } = await parkedFor(handle, 'rates do not show the pair');
  expect(attention?.allowed).toContain('finish');
  expect(executions(lab, `${orderId}.r1`)).toBe(0);
  lab.sandbox.set({ pairs: {} });
  await decideNow(handle, 'finish');
  expect((await handle.result()).compensation).toMatchObject({ status: 'done' });
  expect(executions(lab, `${orderId}.r1`)).toBe(1);
});
