import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, vi } from 'vitest';
import type { OrderHandle } from '../../src/client/order-handle.js';
import type { PaymentOrders } from '../../src/client.js';
import type { OrderInput } from '../../src/contract/order/input-and-result.js';
import type { Decision, OrderState } from '../../src/contract/order/messages.js';
import { ORDER_TYPES } from '../../src/contract/order/types.js';
import { balanceIn, type FinalStatus } from '../../src/contract/service-objects.js';
import type { TestEnding } from '../../src/testing.js';
import { type Fate, outcomeOf, useWorlds } from './worlds.fixture.js';

/*
 * The same calls on the double and on Temporal, worker and sandbox: they must bring the same. Each case first says what the real
 * library brings, so that two worlds without anything are no agreement.
 */

const { double, real, agrees } = useWorlds();

const error = (name: string, about: object = {}) => ({ error: name, ...about });

/** Refusal of a request about an order, with this in its message. */
const refused = (request: string, why: string) =>
  error('RefusedError', { subject: 'order', request, message: expect.stringContaining(why) });

const ends = (outcome: Exclude<FinalStatus, 'completed_partially'>): Fate => ({
  marker: `outcome=${outcome}`,
  ending: { outcome },
});

/** Of 12.50 usd, 5 are not paid. */
const PARTIAL: Fate = {
  marker: 'outcome=completed_partially fraction=0.4',
  ending: { outcome: 'completed_partially', remainder: [{ kind: 'unpaid', currency: 'usd', amount: '5' }] },
};
const OPEN: Fate = { marker: 'after_ms=600000', ending: 'open' };
const REJECTED: Fate = { marker: 'create=400', ending: { failure: 'OrderRejected' } };
const UNCERTAIN: Fate = { marker: 'create=500-before', ending: { parked: 'uncertain-create' } };

const marks = { reference: 'case-7', metadata: { shop: 'north' } };

async function parked(handle: OrderHandle): Promise<OrderState> {
  for (;;) {
    const state = await handle.state();
    if (state.phase === 'parked') return state;
    await sleep(100);
  }
}

/** The first decision of a kind that a parked order offers, with a name and a reason. */
async function decided(handle: OrderHandle, action: string, change: Partial<Decision> = {}): Promise<unknown> {
  const { decisions } = await parked(handle);
  const choice = decisions.find(({ decision }) => decision.action === action);
  if (!choice) throw new Error(`no ${action} among ${JSON.stringify(decisions)}`);
  return handle.decide({ ...choice.decision, by: 'ann', reason: 'looked it up', ...change });
}

/** Starts an order once more, with its input written in another way. */
async function startedAgain(orders: PaymentOrders, input: OrderInput<'withdraw'>): Promise<object> {
  const { runId } = await orders.order(input.order.order_id).state();
  const order = { ...input.order, amount: '12.5', wallet_memo: null } as never;
  const handle = await orders.start('withdraw', { ...input, order, batchId: 'another' });
  return { attached: handle.attached, sameRun: (await handle.state()).runId === runId };
}

/** How often a state changed before depends on look-ups. */
const apartFromRevision = async (state: Promise<unknown>): Promise<unknown> =>
  JSON.parse(JSON.stringify(await state).replace(/"revision":\d+/g, '"revision":0'));

describe.concurrent('the double does as the library on a server:', () => {
  agrees(
    'an order from its start to its end',
    {
      created: { status: 'processing', wallet_to: '4111111111111111' },
      final: { status: 'completed' },
      result: { outcome: 'completed', compensation: { policy: 'report', status: 'none' }, ...marks },
      state: { phase: 'done', revision: 3, decisions: [], ...marks },
      open: false,
      attached: true,
      served: true,
      decide: refused('decision', 'it has ended'),
    },
    ({ orders, input }) => ({
      created: async () => (await orders.create('withdraw', input('withdraw', 'life', marks))).order,
      served: async () => (await orders.start('withdraw', input('withdraw', 'life', marks))).served,
      final: () => orders.order('life').final(),
      result: () => orders.order('life').result(),
      state: () => orders.order('life').state(),
      open: () => orders.order('life').isOpen(),
      attached: async () => (await orders.start('withdraw', input('withdraw', 'life', marks))).attached,
      other: () => orders.start('withdraw', input('withdraw', 'life', { ...marks, reference: 'case-8' })),
      again: () => orders.start('withdraw', input('withdraw', 'life', marks), { again: true }),
      cancel: () => orders.order('life').cancel(),
      decide: () => orders.order('life').decide({ action: 'accept', by: 'ann', reason: 'why', revision: 3 }),
    }),
  );

  for (const type of ORDER_TYPES) {
    agrees(
      `an order of type ${type}`,
      { created: { order_type: type }, result: { outcome: 'completed' } },
      (world) => ({
        created: async () => (await world.orders.create(type, world.input(type, `type-${type}`))).order,
        result: () => world.orders.order(`type-${type}`).result(),
      }),
    );
    agrees(`an order of type ${type} that fails`, { result: { outcome: 'error' } }, (world) => ({
      result: async () => {
        const input = world.input(type, `error-${type}`, { fate: ends('error'), compensation: 'report' });
        return (await world.orders.start(type, input)).result();
      },
    }));
  }

  agrees(
    'another input under an id that is used',
    {
      first: { outcome: 'completed' },
      amount: error('ConflictError', { fields: ['order.amount'] }),
      type: error('ConflictError', { subject: 'order' }),
      same: { attached: true, sameRun: true },
      result: { outcome: 'completed' },
      final: { status: 'completed' },
    },
    ({ orders, input }) => {
      const first = input('withdraw', 'used');
      return {
        first: async () => (await orders.start('withdraw', first)).result(),
        amount: () => orders.start('withdraw', { ...first, order: { ...first.order, amount: '99' } } as never),
        options: () => orders.create('withdraw', { ...first, compensation: 'report', resend: 'never' }),
        type: () => orders.start('exchange', input('exchange', 'used')),
        same: () => startedAgain(orders, first),
        result: () => orders.order('used').result({ until: 'parked' }),
        final: () => orders.order('used').final(),
      };
    },
  );

  const invalid = (...fields: string[]) =>
    error('InvalidInputError', { fields: fields.map((field) => expect.objectContaining({ field })) });
  agrees(
    'input that is bad',
    {
      amount: invalid('order.amount'),
      unknown: invalid('order.callback_url'),
      account: invalid('account'),
      several: invalid('resend', 'order.network', 'order.amount'),
      internal: invalid('recovered'),
      time: invalid('timeoutMs'),
      filter: invalid('status'),
      read: invalid('account'),
    },
    ({ orders, input }) => {
      const { order } = input('withdraw', 'bad');
      const start = (input: object) => () => orders.start('withdraw', input as never);
      return {
        amount: start({ order: { ...order, amount: 12.5 } }),
        unknown: start({ order: { ...order, callback_url: 'https://x.test' } }),
        account: start({ order, account: 'Shop!' }),
        several: start({ order: { ...order, amount: '-1', network: '' }, resend: 'often' }),
        follow: start({ order: { ...order, order_id: 'bad.r1' } }),
        leaks: start({ order: { ...order, order_id: '4111111111111111' } }),
        internal: start({ order, recovered: { order_uuid: 'x' } }),
        nothing: start(undefined as never),
        time: () => orders.create('withdraw', { order }, { timeoutMs: 0 }),
        filter: () => orders.list({ status: 'sleeping' }),
        read: () => orders.rates('Shop!'),
        started: () => orders.order('bad').isOpen(),
      };
    },
  );

  agrees(
    'ends without an order, and another start',
    {
      created: error('FailedError', { type: 'OrderRejected' }),
      refused: { attached: true },
      again: { outcome: 'completed' },
      twice: { ...refused('again', 'ended completed'), undecided: false },
    },
    ({ orders, input }) => {
      const first = input('withdraw', 'rejected', { fate: REJECTED });
      return {
        created: () => orders.create('withdraw', first),
        result: () => orders.order('rejected').result(),
        refused: async () => ({ attached: (await orders.start('withdraw', first)).attached }),
        // A busy server lists what ended a while later.
        status: () =>
          vi.waitUntil(
            async () => {
              const { orders: ended } = await orders.list({ status: 'none' });
              const found = ended.filter(({ orderId }) => orderId === 'rejected');
              return found.length > 0 && found;
            },
            { timeout: 60_000, interval: 100 },
          ),
        again: async () => {
          double.controls.ends('rejected', { outcome: 'completed' });
          return (await orders.start('withdraw', first, { again: true })).result();
        },
        twice: () => orders.start('withdraw', first, { again: true }),
        listed: async () => (await orders.list()).orders.filter(({ orderId }) => orderId === 'rejected').length,
      };
    },
  );

  agrees(
    'bad input that only a worker sees',
    {
      created: error('FailedError', {
        subject: 'order',
        type: 'InvalidOrder',
        fields: [{ field: 'order.amount', reason: 'words' }],
      }),
      sent: 0,
    },
    ({ orders, input }) => {
      const { order } = input('withdraw', 'too-small');
      return {
        created: () => orders.create('withdraw', { order: { ...order, amount: '0.01' } as never }),
        sent: async () => real.lab.sandbox.stats().createsByOrderId[order.order_id] ?? 0,
      };
    },
  );

  const LEFT = { remainder: [{ amount: '5' }] };
  for (const compensation of ['report', 'ask', 'finish', 'revert'] as const) {
    const waits = compensation === 'ask';
    const isPaid = compensation === 'finish';
    agrees(
      `what is left of a payout, with the policy ${compensation}`,
      {
        result: waits ? error('NotDecidedYetError') : { outcome: 'completed_partially', ...(isPaid ? {} : LEFT) },
      },
      (world) => {
        const id = `partial-${compensation}`;
        const input = world.input('withdraw', id, { fate: PARTIAL, compensation });
        return {
          final: async () => (await world.orders.start('withdraw', input)).final(),
          parked: async () => waits && (await parked(world.orders.order(id))),
          result: () => world.orders.order(id).result(waits ? { timeoutMs: 300 } : {}),
        };
      },
    );
  }

  const DEPOSITED: TestEnding = {
    outcome: 'completed_partially',
    remainder: [{ kind: 'unexchanged', currency: 'usd', amount: '80' }],
  };
  agrees(
    'what is left of an exchange, and its decisions',
    { parked: { attention: { code: 'remainder' } } },
    (world) => {
      const fate = { marker: 'outcome=completed_partially fraction=0.4', ending: DEPOSITED };
      const handle = world.orders.order('partial-exchange');
      return {
        start: async () => {
          const input = world.input('exchange', 'partial-exchange', { fate, compensation: 'ask' });
          return (await world.orders.start('exchange', input)).attached;
        },
        parked: async () => {
          const state = await parked(handle);
          // What an exchange brought depends on its rate.
          const decisions = state.decisions.filter(({ decision }) => decision.action !== 'revert');
          return { ...state, decisions };
        },
        accept: () => decided(handle, 'accept').then(() => handle.result()),
      };
    },
  );

  agrees(
    'decisions on an order that waits',
    {
      until: { outcome: 'parked', state: { phase: 'parked', revision: 4 } },
      parked: { phase: 'parked', revision: 4, attention: { code: 'remainder', allowed: ['finish', 'accept'] } },
      stale: refused('decision', 'revision 1 is stale'),
      other: refused('decision', 'not allowed'),
      finish: { phase: 'parked', decisions: [] },
      untilEnd: { outcome: 'completed_partially' },
      result: { compensation: { status: 'done', order_id: 'decide.r1' }, decisions: [{ action: 'finish', by: 'ann' }] },
      late: refused('decision', 'it has ended'),
    },
    ({ orders, input }) => {
      const handle = orders.order('decide');
      const late: Decision = { action: 'accept', by: 'ann', reason: 'why', revision: 9 };
      return {
        start: async () => (await orders.start('withdraw', input('withdraw', 'decide', { fate: PARTIAL }))).attached,
        until: () => handle.result({ until: 'parked' }),
        parked: () => parked(handle),
        stale: () => decided(handle, 'finish', { revision: 1 }),
        other: () => decided(handle, 'finish', { action: 'resend' }),
        unnamed: () => decided(handle, 'finish', { by: '<your name>' }),
        superfluous: () => decided(handle, 'accept', { order_uuid: 'x' }),
        run: () => decided(handle, 'finish', { runId: 'another' }),
        way: () => decided(handle, 'finish', { kind: 'unexchanged' }),
        signature: () => decided(handle, 'finish', { signature: 'no' as never }),
        finish: () => decided(handle, 'finish'),
        untilEnd: () => handle.result({ until: 'parked' }),
        result: () => handle.result(),
        late: () => handle.decide(late),
      };
    },
  );

  agrees('the decision to leave it', { result: { compensation: { status: 'none' } } }, ({ orders, input }) => {
    const handle = orders.order('accept');
    return {
      start: async () => (await orders.start('withdraw', input('withdraw', 'accept', { fate: PARTIAL }))).attached,
      accept: () => decided(handle, 'accept'),
      result: () => handle.result(),
    };
  });

  agrees(
    'orders of which it is uncertain whether they were created',
    {
      resend: { parked: { attention: { code: 'uncertain-create' } }, result: { outcome: 'completed' } },
      'close-absent': { result: error('FailedError', { type: 'OrderAbsent' }) },
    },
    ({ orders, input }) =>
      Object.fromEntries(
        ['resend', 'close-absent'].map((action) => [
          action,
          async () => {
            const options = { fate: UNCERTAIN, resend: 'never' } as const;
            const handle = await orders.start('withdraw', input('withdraw', `uncertain-${action}`, options));
            const state = await apartFromRevision(parked(handle));
            const answer = await apartFromRevision(decided(handle, action));
            const result = await apartFromRevision(outcomeOf(() => handle.result()));
            return { parked: state, answer, result };
          },
        ]),
      ),
  );

  agrees(
    'orders above the cap',
    {
      approve: { parked: { attention: { amount: '2000', currency: 'usd' } }, result: { outcome: 'completed' } },
      refuse: { result: error('FailedError', { type: 'OrderCancelled' }) },
      cancel: { result: error('FailedError', { type: 'OrderCancelled' }) },
    },
    ({ orders, input }) =>
      Object.fromEntries(
        ['approve', 'refuse', 'cancel'].map((action) => [
          action,
          async () => {
            const fate: Fate = { marker: '', ending: { parked: 'over-cap' } };
            const { order } = input('withdraw', `cap-${action}`, { fate });
            const large = { ...order, description: 'x', amount: '2000' } as typeof order;
            const handle = await orders.start('withdraw', { order: large });
            const state = await parked(handle);
            const wrong = action === 'approve' && (await outcomeOf(() => decided(handle, action, { amount: '1' })));
            const answer = action === 'cancel' ? await handle.cancel() : await decided(handle, action);
            return { parked: state, wrong, answer, result: await outcomeOf(() => handle.result()) };
          },
        ]),
      ),
  );

  agrees(
    'an order that is open',
    {
      created: { status: 'processing' },
      state: { phase: 'following', revision: 2 },
      waits: error('NotDecidedYetError'),
      result300: error('NotDecidedYetError'),
      until300: error('NotDecidedYetError', { kind: 'notDecidedYet' }),
      open: true,
      attached: { attached: true, sameRun: true },
      cancelled: { cancelRequested: true, phase: 'following' },
      result: error('UnresolvedError', {
        closed: false,
        message: expect.stringContaining('ended without a verdict (by mistake). The order may exist'),
      }),
    },
    ({ orders, input }) => {
      const handle = orders.order('open');
      return {
        created: async () => (await orders.create('withdraw', input('withdraw', 'open', { fate: OPEN }))).order,
        state: () => handle.state(),
        waits: () => handle.final({ timeoutMs: 300 }),
        result300: () => handle.result({ timeoutMs: 300 }),
        until300: () => handle.result({ until: 'parked', timeoutMs: 300 }),
        open: () => handle.isOpen(),
        attached: () => startedAgain(orders, input('withdraw', 'open', { fate: OPEN })),
        listed: async () => (await orders.list({ status: 'open' })).orders.filter(({ orderId }) => orderId === 'open'),
        undecided: () => handle.decide({ action: 'accept', by: 'ann', reason: 'why', revision: 2 }),
        again: () => orders.start('withdraw', input('withdraw', 'open', { fate: OPEN }), { again: true }),
        cancel: () => handle.cancel(),
        cancelled: async () => {
          for (;;) {
            const state = await handle.state();
            if (state.cancelRequested) return state;
            await sleep(50);
          }
        },
        terminate: async () =>
          void (await orders.client.workflow.getHandle('order:default:open').terminate('by mistake')),
        result: () => handle.result(),
        // Temporal lists an end some time after it.
        stopped: async () => {
          for (;;) {
            const { orders: all } = await orders.list({ status: 'terminated' });
            const found = all.filter(({ orderId }) => orderId === 'open');
            if (found.length > 0) return found;
            await sleep(50);
          }
        },
      };
    },
  );

  const UNKNOWN = error('UnknownIdError', { subject: 'order', id: 'nobody' });
  agrees(
    'ids that nobody used',
    {
      ...Object.fromEntries(['state', 'created', 'final', 'result', 'open', 'decide'].map((ask) => [ask, UNKNOWN])),
      received: error('UnknownIdError', { subject: 'received' }),
    },
    ({ orders }) => {
      const handle = orders.order('nobody');
      return {
        state: () => handle.state(),
        created: () => handle.created(),
        final: () => handle.final(),
        result: () => handle.result({ timeoutMs: 300 }),
        open: () => handle.isOpen(),
        cancel: () => handle.cancel(),
        decide: () => handle.decide({ action: 'accept', by: 'ann', reason: 'why', revision: 1 }),
        received: () => orders.received('nobody').result(),
        account: () => orders.order('life', { account: 'shop' }).result(),
      };
    },
  );

  agrees(
    'lists',
    {
      pages: [['l-3', 'l-2'], ['l-1'], 'the end'],
      all: ['l-3', 'l-2', 'l-1'],
      feed: ['l-1', 'l-2', 'l-3'],
      none: { orders: [] },
      foreign: invalid('cursor'),
    },
    ({ orders, input }) => {
      const filter = { batchId: 'listed', limit: 2 };
      const ids = (found: { orderId: string }[]) => found.map(({ orderId }) => orderId);
      return {
        start: async () => {
          for (const id of ['l-1', 'l-2', 'l-3']) {
            await (await orders.start('withdraw', input('withdraw', id, { batchId: 'listed' }))).result();
          }
          while ((await orders.list({ batchId: 'listed', status: 'completed' })).orders.length < 3) await sleep(100);
        },
        pages: async () => {
          const first = await orders.list(filter);
          const { cursor } = first;
          const second = await orders.list({ ...filter, cursor });
          return [ids(first.orders), ids(second.orders), second.cursor ? 'goes on' : 'the end'];
        },
        entries: () => orders.list({ batchId: 'listed', account: 'default' }),
        attention: () => orders.list({ batchId: 'listed', needsAttention: true }),
        none: () => orders.list({ batchId: 'listed', account: 'shop' }),
        ended: async () => ids((await orders.list({ batchId: 'listed', endedAfter: '2020-01-01T00:00:00Z' })).orders),
        later: () => orders.list({ batchId: 'listed', endedAfter: '2100-01-01T00:00:00+01:00' }),
        all: async () => {
          const all = [];
          for await (const { orderId } of orders.all(filter)) all.push(orderId);
          return all;
        },
        feed: async () => {
          const ended: string[] = [];
          let after: string | undefined;
          for (;;) {
            const page = await orders.ended({ after, limit: 2 });
            if (page.orders.length === 0) return ended.sort();
            ended.push(...page.orders.flatMap(({ orderId, batchId }) => (batchId === 'listed' ? [orderId] : [])));
            after = page.cursor;
          }
        },
        foreign: async () => {
          const { cursor } = await orders.list(filter);
          return orders.list({ batchId: 'other', cursor });
        },
      };
    },
  );

  agrees(
    'reads of the service',
    {
      rates: { withdraw: { usd_card: { min_amount_from: expect.any(String) } } },
      balances: expect.arrayContaining(['usd']),
      usd: { currency: 'usd', amount: 'string' },
      status: [{ user_order_id: 'read' }, { user_order_id: 'read' }],
      absent: error('FailedError', { type: 'ServiceRejected' }),
    },
    ({ orders, input }) => ({
      rates: async () => ({ withdraw: { usd_card: (await orders.rates()).withdraw?.usd_card } }),
      balances: async () => Object.keys(await orders.balances()),
      usd: async () => {
        const usd = balanceIn(await orders.balances(), 'usd');
        return { currency: usd?.currency, amount: typeof usd?.amount };
      },
      status: async () => {
        const { handle, order } = await orders.create('exchange', input('exchange', 'read'));
        await handle.result();
        const { order_uuid } = order;
        return [await orders.orderStatus({ order_id: 'read' }), await orders.orderStatus({ order_uuid })];
      },
      absent: () => orders.orderStatus({ order_id: 'nobody' }),
      served: () => orders.isServed(),
    }),
  );

  agrees(
    'a time without workers',
    { state: error('NoWorkerError'), served: false, waits: error('NotDecidedYetError') },
    (world) => {
      const orders = world.withoutWorker();
      const handle = orders.order('waits');
      return {
        start: async () => (await orders.start('withdraw', world.input('withdraw', 'waits'))).attached,
        attached: async () => (await orders.start('withdraw', world.input('withdraw', 'waits'))).attached,
        served: () => orders.isServed(),
        open: () => handle.isOpen(),
        waits: () => handle.created({ timeoutMs: 300 }),
        state: () => handle.state(),
        decide: () => handle.decide({ action: 'accept', by: 'ann', reason: 'why', revision: 1 }, { timeoutMs: 300 }),
        listed: () => orders.list(),
      };
    },
  );

  agrees(
    'a time without Temporal',
    { start: error('TemporalUnreachableError', { message: expect.stringContaining('It is not known whether order') }) },
    (world) => ({
      start: async () => (await world.withoutTemporal()).start('withdraw', world.input('withdraw', 'unreached')),
    }),
  );

  agrees(
    'a start whose answer is lost',
    { start: error('TemporalUnreachableError', { message: expect.stringContaining('It is not known whether order') }) },
    (world) => ({
      start: async () => (await world.withoutAnswers()).start('withdraw', world.input('withdraw', 'lost')),
    }),
  );
});
