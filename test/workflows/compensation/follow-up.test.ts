import { describe, expect, it, test } from 'vitest';
import type { RevertTarget } from '../../../src/contract/order/input-and-result.js';
import type { CardPart } from '../../../src/contract/order/request.js';
import { validateOrderInput } from '../../../src/validation/order-input.js';
import {
  EXCHANGE,
  EXCHANGE_AND_PAY,
  EXCHANGE_BACK,
  EXCHANGE_TO_PAY,
  followUpCosts,
  followUpOrder,
  type Move,
  type Named,
  PAY,
  REFUND,
} from '../../../src/workflows/compensation/moves.js';
import { BITCOIN, CARDS_REQUEST, ETHEREUM, OTHER_CARD, SEPA_IBAN } from '../../contract/inputs.fixture.js';
import { type CaseFacts, caseOf } from './cases.fixture.js';

type Type = Parameters<typeof caseOf>[0];

interface Row extends Pick<CaseFacts, 'request'> {
  title: string;
  type: Type;
  move: Move;
  /** The follow-up's request besides its id and description. */
  made: { type: ReturnType<typeof followUpOrder>['type'] } & Record<string, unknown>;
  named?: Named;
}

const caseFor = ({ type, request }: Row) => caseOf(type, 'completed_partially', { request });
const followUpOf = (row: Row) => {
  const c = caseFor(row);
  return followUpOrder(c, row.move, String(row.made.amount), `${c.request.order_id}.r1`, row.named);
};

const REVERT_TO: RevertTarget = { network: 'bitcoin', wallet: BITCOIN, wallet_memo: '7' };
const { order_id: _, ...CARDS } = CARDS_REQUEST;
const NAMED_CARDS: CardPart[] = [{ amount: '0.15', wallet: OTHER_CARD }];
const SEPA = {
  client_info: { client_id: 'c-7' },
  network: 'sepa',
  wallet: SEPA_IBAN,
  wallet_memo: '42',
  wallet_details: { recipient_email: 'a@example.com', recipient_name: 'A' },
};

const ROWS: Row[] = [
  {
    title: 'PAY keeps client info, memo and details, and neither description nor delay',
    type: 'withdraw',
    request: { ...SEPA, description: 'full salary', delay_order_for_minutes: 5 },
    move: PAY,
    made: { type: 'withdraw', ...SEPA, currency: 'usd', amount: '10' },
  },
  {
    title: 'PAY to the cards that a person named, and to no others',
    type: 'withdraw',
    request: CARDS,
    move: PAY,
    named: { cards: NAMED_CARDS },
    made: { type: 'withdraw', ...CARDS, amount: '0.15', wallet_details: NAMED_CARDS },
  },
  {
    title: 'EXCHANGE of a deposit: from the balance, not by another deposit',
    type: 'deposit_exchange',
    move: EXCHANGE,
    made: { type: 'exchange', currency_from: 'btc', currency_to: 'usd', amount: '0.004' },
  },
  {
    title: 'EXCHANGE_AND_PAY: to the same wallet, by amount, without the delay',
    type: 'exchange_withdraw',
    request: { amount: '100', amount_to: undefined },
    move: EXCHANGE_AND_PAY,
    made: {
      type: 'exchange_withdraw',
      currency_from: 'usd',
      amount: '60',
      currency_to: 'eth',
      network_to: 'ethereum',
      wallet: ETHEREUM,
    },
  },
  {
    title: 'EXCHANGE_TO_PAY of an exact payout: exchanges only, by amount',
    type: 'exchange_withdraw',
    move: EXCHANGE_TO_PAY,
    made: { type: 'exchange', currency_from: 'usd', currency_to: 'eth', amount: '60' },
  },
  {
    title: 'EXCHANGE_BACK: the other way',
    type: 'exchange_withdraw',
    move: EXCHANGE_BACK,
    made: { type: 'exchange', currency_from: 'eth', currency_to: 'usd', amount: '0.02' },
  },
  {
    title: 'REFUND: in the deposited currency, to revertTo',
    type: 'deposit_exchange_withdraw',
    move: REFUND,
    named: { revertTo: REVERT_TO },
    made: { type: 'withdraw', currency: 'btc', amount: '0.004', ...REVERT_TO },
  },
];

describe('followUpOrder', () => {
  test.for(ROWS)('$title, and the validation accepts it', (row) => {
    const { order_id: of } = caseFor(row).request;
    const { type, ...fields } = row.made;
    const made = followUpOf(row);
    const request = { ...fields, order_id: `${of}.r1`, description: `Follow-up of ${of}` };
    expect(made).toEqual({ type, request });
    expect(validateOrderInput(made.type, { order: made.request }, { followUp: true })).toHaveProperty('input');
  });

  it('never refunds without revertTo, also where the wallet that the deposit came from is known', () => {
    const order = { wallet_from: BITCOIN };
    const c = caseOf('deposit_exchange', 'completed_partially', { order });
    expect(() => followUpOrder(c, REFUND, '0.004', 'dx-1.r1')).toThrow(RangeError);
  });
});

test.each([
  [PAY, 'client', 1],
  [EXCHANGE_AND_PAY, 'client', 1],
  [PAY, 'merchant', 0],
  [EXCHANGE_TO_PAY, 'client', 0],
  [EXCHANGE_BACK, 'client', 0],
  [REFUND, 'client', 0],
] as const)('%j with payer %s warns %i times of a second commission', (move, payer, warnings) => {
  const c = caseOf('exchange_withdraw', 'completed_partially', { payers: { from: null, to: payer } });
  expect(followUpCosts(c, move)).toHaveLength(warnings);
});
