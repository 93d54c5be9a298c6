import { describe } from 'vitest';
import type { TestEnding } from '../../src/testing.js';
import { useWorlds } from './worlds.fixture.js';

/* `orders.check` of the double and of the library on a server: they must bring the same. */

const { double, agrees } = useWorlds();

describe.concurrent('a check of the double is that of a worker:', () => {
  agrees(
    'orders that would be sent, with their limits and amounts',
    {
      withdraw: { wouldBeSent: true, leaves: [{ amount: '14' }], id: { state: 'free' }, atService: { state: 'none' } },
      exchange: { wouldBeSent: true, estimated: true },
      deposit: { wouldBeSent: true },
    },
    ({ orders, input }) => ({
      withdraw: () => orders.check('withdraw', input('withdraw', 'check-w')),
      exchange: () => orders.check('exchange', input('exchange', 'check-e')),
      deposit: () => orders.check('deposit', input('deposit', 'check-d')),
      started: () => orders.order('check-w').isOpen(),
    }),
  );

  agrees(
    'input that is bad, for the client or for a worker',
    {
      client: { wouldBeSent: false, fields: [{ field: 'order.amount' }] },
      worker: { wouldBeSent: false, fields: [{ field: 'order.amount' }], atService: { state: 'none' } },
    },
    ({ orders, input }) => {
      const { order } = input('withdraw', 'check-small');
      return {
        client: () => orders.check('withdraw', { order: { ...order, amount: 12.5 } } as never),
        worker: () => orders.check('withdraw', { order: { ...order, amount: '0.01' } as never }),
      };
    },
  );

  agrees(
    'an order above the cap, and one of which the id is used',
    {
      cap: { wouldBeSent: false, wouldPark: { code: 'over-cap' } },
      same: { wouldBeSent: false, id: { state: 'ended' }, atService: { state: 'same', status: 'completed' } },
      other: { wouldBeSent: false, id: { state: 'conflict' }, atService: { state: 'conflict', fields: ['amount'] } },
      again: { wouldBeSent: false },
    },
    ({ orders, input }) => {
      const large: TestEnding = {
        ...{ parked: 'over-cap' },
        reason: '2000 usd is above the cap of 1000 usd for one order',
      };
      double.controls.ends('check-cap', large);
      const of = (id: string, amount: string) => {
        const { order } = input('withdraw', id);
        return { order: { ...order, amount } as typeof order };
      };
      return {
        cap: () => orders.check('withdraw', of('check-cap', '2000')),
        started: async () => (await orders.start('withdraw', of('check-used', '12.5'))).result(),
        same: () => orders.check('withdraw', of('check-used', '12.50')),
        other: () => orders.check('withdraw', of('check-used', '99')),
        again: () => orders.check('withdraw', of('check-used', '12.50'), { again: true }),
      };
    },
  );

  agrees('no worker answers', { check: { error: 'NoWorkerError' } }, (world) => ({
    check: () => world.withoutWorker().check('withdraw', world.input('withdraw', 'check-nobody'), { timeoutMs: 3_000 }),
  }));
});
