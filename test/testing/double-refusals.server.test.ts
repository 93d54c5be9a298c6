import { describe, expect } from 'vitest';
import type { OrderHandle } from '../../src/client/order-handle.js';
import type { OrderState } from '../../src/contract/order/messages.js';
import { useWorlds, type World } from './worlds.fixture.js';

/* What a worker refuses or leaves waiting, whatever the test says: the double must bring the same. */

const { agrees } = useWorlds({ quiet: true });

const PAST = '2020-01-01T00:00:00Z';

/** Input of a payout with another amount or currency. */
function payout({ input }: World, id: string, change: object, options: object = {}) {
  const { order } = input('withdraw', id);
  return { ...options, order: { ...order, ...change } as typeof order };
}

const refused = (type: string, field?: string) => ({
  error: 'FailedError',
  type,
  ...(field && { fields: [{ field: `order.${field}` }] }),
});

async function parkedAgain(handle: OrderHandle, after = 0): Promise<OrderState> {
  for (;;) {
    const end = await handle.result({ until: 'parked', timeoutMs: 60_000 });
    if (!('state' in end)) throw new Error(`ended ${end.outcome}`);
    if (end.state.revision > after) return end.state;
  }
}

/** How often a state changed depends on look-ups. */
const apartFromRevision = (state: unknown): unknown =>
  JSON.parse(JSON.stringify(state).replace(/"revision":\d+/g, '"revision":0'));

describe.concurrent('the double refuses what a worker refuses:', () => {
  const amounts: [string, object, string][] = [
    ['more decimal places than the currency has', { amount: '5.001' }, 'amount'],
    ['a currency that is not offered', { currency: 'zzz' }, 'currency'],
    ['less than the least amount', { amount: '0.01' }, 'amount'],
    ['more than the greatest amount', { currency: 'eur', amount: '4999999' }, 'amount'],
  ];
  for (const [name, change, field] of amounts) {
    const id = `bad-${name.replaceAll(' ', '-')}`;
    agrees(
      name,
      { created: refused('InvalidOrder', field), check: { wouldBeSent: false, fields: [{ field: `order.${field}` }] } },
      (world) => ({
        check: () => world.orders.check('withdraw', payout(world, id, change)),
        created: () => world.orders.create('withdraw', payout(world, id, change)),
        result: () => world.orders.order(id).result(),
        atService: () => world.orders.orderStatus({ order_id: id }),
      }),
    );
  }

  agrees(
    'a batch with a bad row',
    { start: { error: 'FailedError', fields: [{ field: 'rows' }, { field: 'line 2: order.amount' }] } },
    (world) => ({
      start: async () => {
        const rows = ['12.50', '5.001'].map((amount, n) => payout(world, `row-${n}`, { amount }).order);
        return (await world.orders.batches.start({ batchId: 'bad-row', startedBy: 'ann', rows })).result();
      },
      sent: () => world.orders.order('row-0').isOpen(),
    }),
  );

  agrees(
    'a send after the latest time',
    { created: refused('OrderCancelled'), check: { wouldBeSent: false, notNow: expect.stringContaining(PAST) } },
    (world) => ({
      check: () => world.orders.check('withdraw', payout(world, 'late', {}, { latestSend: PAST })),
      created: () => world.orders.create('withdraw', payout(world, 'late', {}, { latestSend: PAST })),
      atService: () => world.orders.orderStatus({ order_id: 'late' }),
    }),
  );

  agrees(
    'an order that an unknown run may have sent, and orders that are not there to be adopted',
    {
      parked: { phase: 'parked', attention: { code: 'uncertain-create' } },
      absent: { phase: 'parked', attention: { code: 'uncertain-create' } },
      other: { phase: 'parked', attention: { code: 'uncertain-create' } },
      result: { outcome: 'completed', decisions: [{ action: 'adopt' }, { action: 'adopt' }, { action: 'resend' }] },
    },
    ({ orders, input }) => {
      const handle = orders.order('doubt');
      const decide = async (about: object) => {
        const { revision } = await parkedAgain(handle);
        await handle.decide({ by: 'ann', reason: 'looked', revision, ...about } as never);
        return revision;
      };
      return {
        started: async () => (await orders.start('withdraw', input('withdraw', 'doubt', { sentUntil: PAST }))).attached,
        parked: async () => apartFromRevision(await parkedAgain(handle)),
        absent: async () => {
          const before = await decide({ action: 'adopt', order_uuid: '00000000-0000-4000-8000-000000000000' });
          return apartFromRevision(await parkedAgain(handle, before));
        },
        other: async () => {
          // With a shorter id, it is no later order of the one in doubt.
          const { order } = await orders.create('withdraw', input('withdraw', 'an'));
          const before = await decide({ action: 'adopt', order_uuid: order.order_uuid });
          return apartFromRevision(await parkedAgain(handle, before));
        },
        result: async () => {
          await decide({ action: 'resend' });
          return apartFromRevision(await handle.result());
        },
      };
    },
  );

  agrees(
    'an account without workers, and the order of another account',
    {
      started: { attached: false },
      served: false,
      waits: { error: 'NotDecidedYetError' },
      state: { phase: 'creating' },
      status: { error: 'NoWorkerError' },
      batch: { error: 'FailedError', fields: [{ field: 'account' }] },
      cancelled: refused('OrderCancelled'),
    },
    (world) => {
      const { orders, input } = world;
      const account = 'defualt';
      const handle = orders.order('unserved', { account });
      return {
        own: async () => (await orders.create('withdraw', input('withdraw', 'unserved'))).order,
        started: async () => {
          const { attached } = await orders.start('withdraw', input('withdraw', 'unserved', { account }));
          return { attached };
        },
        waits: () => handle.created({ timeoutMs: 1_000 }),
        state: () => handle.state(),
        served: () => orders.isServed(account),
        status: () => orders.orderStatus({ order_id: 'unserved' }, account, { timeoutMs: 2_000 }),
        batch: async () => {
          const rows = [payout(world, 'unserved-row', {}).order];
          return (await orders.batches.start({ batchId: 'unserved', startedBy: 'ann', account, rows })).result();
        },
        cancel: () => handle.cancel(),
        cancelled: () => handle.result(),
      };
    },
  );

  agrees('the amounts of an exchange', { order: { from: '90', sum: '96.71' } }, (world) => ({
    order: async () => {
      const change = { currency_from: 'eur', currency_to: 'usd', network_to: 'card', wallet: '4111111111111111' };
      const { order } = world.input('exchange_withdraw', 'by-rate');
      const asked = { order: { ...order, ...change, amount: '90' } as typeof order };
      const { order: created } = await world.orders.create('exchange_withdraw', asked);
      return { from: created.expected_amount_from, sum: created.expected_amount_to };
    },
  }));
});
