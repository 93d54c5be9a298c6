import { describe, expect, test, vi } from 'vitest';
import { serviceOf } from '../../../scripts/service-of.js';
import type { OrderType } from '../../../src/contract/order/types.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useLab } from '../../support/lab.js';
import { TWO_CARDS } from '../compensation/parked-orders.fixture.js';
import { serviceView } from './service-view.fixture.js';

// The orders wait most of the time, and not for each other.
vi.setConfig({ maxConcurrency: 30 });

const lab = useLab({ callbacks: false });

const SEPA = {
  currency: 'eur',
  network: 'sepa',
  wallet: 'DE89370400440532013000',
  wallet_details: { recipient_email: 'jane@example.com', recipient_name: 'Jane' },
};
const UMLAUTS = { ...SEPA, wallet_details: { ...SEPA.wallet_details, recipient_name: 'Jürgen Weiß-Müller' } };
const BECH32 = {
  currency: 'btc',
  network: 'bitcoin',
  amount: '0.01',
  wallet: 'BC1QAR0SRRR7XFKVY5L643LYDNW9RE59GTZZWF5MDQ',
};

/** A service that shows our order in another form; `fields`: what the result says was shown otherwise. */
const FORMS: [fault: string, type: OrderType, order: Record<string, unknown>, fields: string[] | undefined][] = [
  // The same wallet, provably: nothing to tell anybody.
  ['echo-lower-case', 'withdraw', BECH32, undefined],
  ['echo-blanks', 'withdraw', {}, undefined],
  ['echo-masked', 'withdraw', {}, ['wallet']],
  ['echo-masked', 'withdraw', TWO_CARDS, ['wallet_details']],
  ['echo-no-wallet', 'withdraw', TWO_CARDS, ['wallet']],
  ['echo-no-wallet', 'withdraw', {}, ['wallet']],
  ['echo-no-details', 'withdraw', SEPA, ['wallet_details']],
  ['echo-details-text', 'withdraw', SEPA, ['wallet_details']],
  ['echo-extra-key', 'withdraw', SEPA, ['wallet_details']],
  ['echo-name-ascii', 'withdraw', UMLAUTS, ['wallet_details']],
  ['echo-name-lost', 'withdraw', UMLAUTS, ['wallet_details']],
  ['echo-name-cut', 'withdraw', UMLAUTS, ['wallet_details']],
  ['echo-fee-on-top', 'deposit', {}, ['amount']],
  ['echo-rounded', 'withdraw', { amount: '12.55' }, ['amount']],
];

async function start(type: OrderType, label: string, marker: string, order: Record<string, unknown>) {
  const input = orderInput(type, newOrderId(label), { marker });
  return lab.orders.start(type, { ...input, order: { ...input.order, ...order } } as typeof input);
}

describe.concurrent('our own order, shown in another form', () => {
  test.for(FORMS)('%s of a %s %o: the 200 answer is ours', async ([fault, type, order, fields]) => {
    const handle = await start(type, 'form', `create=${fault} pay_ms=20`, order);
    const result = await handle.result();
    expect(result).toMatchObject({ outcome: 'completed', adopted: false });
    expect(result.echoDifferences).toEqual(fields);
    expect(serviceView(lab, handle.orderId)).toEqual({ creates: 1, executed: 1, blindCreates: 0 });
  });

  test.for(FORMS)(
    '%s of a %s %o: executed and answered 500, it is found and taken',
    async ([fault, type, order, fields]) => {
      const shown = `status=${fault} status_times=all list=${fault} list_times=all`;
      const handle = await start(type, 'found', `create=500 duplicate=c pay_ms=20 ${shown}`, order);
      const result = await handle.result();
      expect(result).toMatchObject({ outcome: 'completed', adopted: true });
      expect(result.echoDifferences).toEqual(fields);
      expect(serviceView(lab, handle.orderId)).toEqual({ creates: 1, executed: 1, blindCreates: 0 });
    },
  );
});

describe.concurrent('a person is told', () => {
  test('which fields are shown otherwise, while the order goes on by itself to its end', async () => {
    const handle = await start('withdraw', 'told', 'create=echo-masked after_ms=3000', {});
    await handle.created();
    const { attention, phase } = await handle.state();
    expect(attention).toMatchObject({
      reason: expect.stringMatching(/in another form: wallet \(asked for \*{4}1111, shown \*{4}1111\)$/),
      allowed: [],
    });
    expect(attention?.reason).not.toContain('411111');
    expect(phase).not.toBe('parked');
    expect(await handle.result()).toMatchObject({ outcome: 'completed', echoDifferences: ['wallet'] });
    expect((await handle.state()).attention).toBeUndefined();
  });

  test('and a probe before the first send that finds our order in another form adopts it: nothing is sent', async () => {
    const input = orderInput('withdraw', newOrderId('theirs'), {
      marker: 'duplicate=c list=echo-no-wallet list_times=all',
    });
    const existing = await (await serviceOf(lab.sandbox)).createOrder('withdraw', input.order);
    const result = await (await lab.orders.start('withdraw', input)).result();
    expect(result).toMatchObject({ adopted: true, order: { order_uuid: existing.order_uuid } });
    expect(result.echoDifferences).toEqual(['wallet']);
    expect(serviceView(lab, input.order.order_id)).toMatchObject({ creates: 1, executed: 1 });
  });
});
