import type { CompensationPolicy, OrderInput } from '../../src/contract/order/input-and-result.js';
import type { OrderType } from '../../src/contract/order/types.js';

/** One order of the demo: what is started, how the sandbox is told to treat it, and what must come of it. */
export interface Scenario {
  name: string;
  type: OrderType;
  input: OrderInput;
  expected: {
    outcome: string;
    learned: 'callback' | 'poll' | 'look-up';
    compensation: string;
    /** Creates the service received, the follow-up's not counted. */
    creates: number;
  };
}

const CARD = '4111111111111111';
const TRON = 'TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC';

const REQUESTS = {
  deposit: { currency: 'usdt', network: 'tron', amount: '250' },
  deposit_exchange: { currency_from: 'usd', network_from: 'card', amount: '120.50', currency_to: 'btc' },
  deposit_exchange_withdraw: {
    currency_from: 'usd',
    network_from: 'card',
    amount: '100',
    currency_to: 'usdt',
    network_to: 'tron',
    wallet: TRON,
  },
  exchange: { currency_from: 'usd', currency_to: 'btc', amount: '200' },
  exchange_withdraw: { currency_from: 'usd', amount: '80', currency_to: 'usdt', network_to: 'tron', wallet: TRON },
  withdraw: { currency: 'usd', network: 'card', amount: '12.50', wallet: CARD },
} as const;

type Row = [
  type: OrderType,
  name: string,
  marker: string,
  expected: Partial<Scenario['expected']>,
  compensation?: CompensationPolicy,
];

const ROWS: readonly Row[] = [
  ['deposit', 'paid by the client', '', {}],
  ['deposit', 'never paid', 'outcome=canceled callback=drop', { outcome: 'canceled', learned: 'poll' }],
  ['deposit_exchange', 'paid and exchanged', '', {}],
  [
    'deposit_exchange',
    'exchanged in part',
    'outcome=completed_partially fraction=0.4 callback=drop',
    { outcome: 'completed_partially', learned: 'poll' },
  ],
  ['deposit_exchange_withdraw', 'paid, exchanged, paid out', '', {}],
  ['deposit_exchange_withdraw', 'client paid too little', 'paid=0.9 callback=drop', { learned: 'poll' }],
  ['exchange', 'exchanged', '', {}],
  [
    'exchange',
    'exchanged in part, then finished',
    'outcome=completed_partially fraction=0.5',
    { outcome: 'completed_partially', compensation: 'done' },
    'finish',
  ],
  ['exchange_withdraw', 'exchanged and paid out', 'callback=drop', { learned: 'poll' }],
  ['exchange_withdraw', 'not executed', 'outcome=error', { outcome: 'error' }],
  ['withdraw', 'paid out', '', {}],
  ['withdraw', '502 on create, but it was created', 'create=502-after', {}],
  ['withdraw', '503 on create, nothing created', 'create=503-before', { creates: 2 }],
  [
    'withdraw',
    'paid out in part, then finished',
    'outcome=completed_partially fraction=0.4',
    { outcome: 'completed_partially', compensation: 'done' },
    'finish',
  ],
  ['withdraw', 'callbacks lost', 'callback=drop', { learned: 'poll' }],
];

/** The demo's orders. `runId` keeps the order ids of one demo run apart from those of another on the same server. */
export function scenarios(runId: string): Scenario[] {
  return ROWS.map(([type, name, marker, expected, compensation], index) => ({
    name,
    type,
    input: {
      order: {
        ...REQUESTS[type],
        order_id: `demo-${runId}-${String(index + 1).padStart(2, '0')}`,
        ...(marker && { description: `[sandbox ${marker}]` }),
      },
      ...(compensation && { compensation }),
    } as OrderInput,
    expected: { outcome: 'completed', learned: 'callback', compensation: 'none', creates: 1, ...expected },
  }));
}
