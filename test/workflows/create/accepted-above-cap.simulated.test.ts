import { expect, test } from 'vitest';
import type { OrderInput } from '../../../src/contract/order/input-and-result.js';
import { HOUR_MS, useGatedLab } from '../../support/gated-lab.js';
import { orderInput } from '../../support/inputs.js';

const lab = useGatedLab({ PAYMENT_ORDER_CAPS: '{"usd": "200"}' });

/** Pays 700 trx, which cost about 80 usd. */
function paysTrx(orderId: string, marker?: string): OrderInput<'exchange_withdraw'> {
  const { order, ...options } = orderInput('exchange_withdraw', orderId, marker ? { marker } : {});
  const { amount: _, ...others } = order as typeof order & { amount?: string };
  return { ...options, order: { ...others, currency_to: 'trx', amount_to: '700' } as typeof order };
}

/** The rate jumps between the worker's look at the rates and its create: the order then costs about 875 usd. */
function jumpAtCreate(): void {
  lab.sandbox.set({ pairs: {} });
  lab.gate.rule = ({ path }) => {
    if (path.endsWith('/exchange_withdraw')) {
      lab.sandbox.set({ pairs: { 'exchange_withdraw usd-trx_tron': { rate: '0.8' } } });
    }
    return undefined;
  };
}

test.for([
  ['answers its create', undefined],
  ['shows in a look-up after a create without answer', 'create=500'],
] as const)(
  'an order that the service %s above the cap; an operator is shown that, also after its end',
  async ([, marker]) => {
    jumpAtCreate();
    const orderId = `above-${marker ?? 'answered'}`.replace('=', '-');
    const handle = await lab.orders.start('exchange_withdraw', paysTrx(orderId, marker));
    expect((await lab.result(handle, HOUR_MS)).outcome).toBe('completed');
    const { attention, decisions } = await lab.state(orderId);
    const reason = expect.stringMatching(/ comes to 875 usd, which is above the cap of 200 usd/);
    expect(attention).toMatchObject({ code: 'over-cap', allowed: [], reason });
    expect(decisions).toEqual([]);
    expect(lab.gate.about(orderId, 'create')).toHaveLength(1);
  },
);

test('an order that costs what its estimate says asks nobody', async () => {
  lab.gate.rule = () => undefined;
  lab.sandbox.set({ pairs: {} });
  const handle = await lab.orders.start('exchange_withdraw', paysTrx('within'));
  expect((await lab.result(handle, HOUR_MS)).outcome).toBe('completed');
  expect((await lab.state('within')).attention).toBeUndefined();
});

test('the histories replay', () => lab.replayAll());
