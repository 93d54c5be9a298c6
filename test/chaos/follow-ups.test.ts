import { expect, test } from 'vitest';
import { beyondRemainder } from '../../chaos/oracle/money.js';
import type { OrderObject, SandboxOrder } from '../../sandbox/index.js';
import { cleanEvidence, truthfully } from './evidence.fixture.js';

/** An order as the service worked it: what was asked for in F, what came out in T, and what is left. */
interface Facts {
  id: string;
  type: string;
  pair: [from: string, to: string];
  asked: string;
  to?: string;
  left?: Partial<SandboxOrder['truth']>;
  status?: string;
}

function worked({ id, type, pair: [from, to], asked, to: amountTo, left, status }: Facts): SandboxOrder {
  const order: Partial<OrderObject> = {
    order_uuid: `uuid-${id}`,
    user_order_id: id,
    order_type: type,
    status: status ?? (left ? 'completed_partially' : 'completed'),
    currency_from: from,
    currency_to: to,
    expected_amount_from: asked,
    amount_to: amountTo ?? null,
  };
  return { order: order as OrderObject, balance_changes: [], truth: { unexchanged: '0', unpaid: '0', ...left } };
}

/** The texts that the oracle finds about follow-ups. */
function found(orders: readonly Facts[]): string[] {
  const service = orders.map(worked);
  const followed = new Map(service.map((item) => [item.order.user_order_id, truthfully(item)]));
  return beyondRemainder({ ...cleanEvidence(), service, followed }).map(({ text }) => text);
}

/** 100 usd asked for: 60 became 0.001 btc, 40 stayed. */
const EXCHANGE: Facts = {
  ...{ id: 'a', type: 'exchange', pair: ['usd', 'btc'], asked: '100', to: '0.001', left: { unexchanged: '40' } },
};
/** Of what the exchange gave, 5 eur were not paid out. */
const PAYOUT: Facts = {
  ...{ id: 'a', type: 'exchange_withdraw', pair: ['usd', 'eur'], asked: '100', to: '80', left: { unpaid: '5' } },
};
/** 30 usd of a deposit were neither exchanged nor paid out. */
const DEPOSIT: Facts = {
  ...{ id: 'a', type: 'deposit_exchange_withdraw', pair: ['usd', 'eur'], asked: '100', to: '55' },
  left: { unexchanged: '30' },
};
const WITHDRAW: Facts = {
  id: 'a',
  type: 'withdraw',
  pair: ['usd', 'usd'],
  asked: '20',
  to: '15',
  left: { unpaid: '5' },
};

const exchange = (n: number, pair: [string, string], asked: string, to: string): Facts => ({
  ...{ id: `a.r${n}`, type: 'exchange', pair, asked, to },
});
const withdraw = (n: number, currency: string, asked: string, unpaid?: string): Facts => ({
  ...{ id: `a.r${n}`, type: 'withdraw', pair: [currency, currency], asked, to: asked },
  ...(unpaid && { left: { unpaid } }),
});

test('taking back, then exchanging all that is there again, is no finding', () => {
  const followUps = [exchange(1, ['btc', 'usd'], '0.001', '58'), exchange(2, ['usd', 'btc'], '98', '0.0015')];
  expect(found([EXCHANGE, ...followUps])).toEqual([]);
});

const BEYOND: [string, Facts, Facts[], string[]][] = [
  [
    'taking back more than was exchanged',
    EXCHANGE,
    [exchange(1, ['btc', 'usd'], '0.0011', '64')],
    ['a.r1 asks for more than is left: exchange of 0.0011 btc where 0.001 was left'],
  ],
  [
    'paying the rest and taking it back as well',
    PAYOUT,
    [withdraw(1, 'eur', '5'), exchange(2, ['eur', 'usd'], '5', '5.2')],
    ['a.r2 asks for more than is left: exchange of 5 eur where 0 was left'],
  ],
  [
    'refunding more than is left of a deposit',
    DEPOSIT,
    [withdraw(1, 'usd', '30.5')],
    ['a.r1 asks for more than is left: withdraw of 30.5 usd where 30 was left'],
  ],
  [
    'paying the whole rest again after a partial follow-up',
    WITHDRAW,
    [withdraw(1, 'usd', '5', '2'), withdraw(2, 'usd', '5')],
    ['a.r2 asks for more than is left: withdraw of 5 usd where 2 was left'],
  ],
  [
    'undoing a completed order',
    { ...EXCHANGE, left: undefined },
    [exchange(1, ['btc', 'usd'], '0.001', '58')],
    ['a.r1 follows a completed order'],
  ],
];

test.each(BEYOND)('%s is found', (_title, parent, followUps, texts) => {
  expect(found([parent, ...followUps])).toEqual(texts);
});

test('a follow-up whose parent is not ours is found', () => {
  expect(found([withdraw(1, 'usd', '1')])).toEqual(['a.r1 follows no order of ours']);
});
