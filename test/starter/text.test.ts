import { describe, expect, it } from 'vitest';
import type { DecisionChoice, OrderState } from '../../src/contract/order/messages.js';
import type { Order } from '../../src/contract/service-objects.js';
import {
  decideCommands,
  headed,
  listText,
  progressLine,
  resultText,
  rowsText,
  stateText,
  table,
} from '../../src/starter/text.js';

const order = {
  order_uuid: 'u-1',
  order_type: 'withdraw',
  user_order_id: 'w-1',
  expected_amount_from: '12.50',
  amount_from: null,
  currency_from: 'usd',
  expected_amount_to: '12.50',
  amount_to: '12.00',
  currency_to: 'usd',
  wallet_from: null,
  wallet_to: '4111111111111111',
  deposit_address: null,
  deposit_memo: null,
  deposit_url: null,
  error_message: '',
} as Order;

const parked: OrderState = {
  phase: 'parked',
  revision: 4,
  runId: 'r-1',
  status: null,
  order,
  waitingFor: 'a decision',
  attention: {
    code: 'uncertain-create',
    reason: 'outcome unknown',
    since: '2026-01-02T03:04:05Z',
    allowed: ['resend', 'adopt'],
  },
  decisions: [],
  lastLookupAt: null,
};

const W1 = { orderId: 'w-1', account: 'eu' };

describe('the state', () => {
  it('shows phase, status, attention, allowed actions, amounts and last look-up', () => {
    const text = stateText(W1, parked);
    expect(text).toMatch(/^phase +parked, revision 4$/m);
    expect(text).toMatch(/^run +r-1$/m);
    expect(text).toMatch(/^status +not known yet$/m);
    expect(text).toMatch(/^waiting for +a decision$/m);
    expect(text).toMatch(/^attention +outcome unknown \(since 2026-01-02T03:04:05Z\)$/m);
    expect(text).toMatch(/^allowed +resend, adopt$/m);
    expect(text).toMatch(/^expected_amount_from +12.50$/m);
    expect(text).toMatch(/^amount_to +12.00$/m);
    expect(text).toMatch(/^last look-up +none yet$/m);
  });

  it('shows no card number that the service quotes', () => {
    const declined = { ...order, error_message: 'card 4111111111111111 was declined' };
    expect(stateText(W1, { ...parked, order: declined })).toMatch(/^error_message +card \*\*\*\* was declined$/m);
  });

  it('masks wallets and shows where the client pays', () => {
    const deposit = { ...order, deposit_address: 'TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC' };
    const text = stateText(W1, { ...parked, order: deposit });
    expect(text).toContain('****1111');
    expect(text).not.toContain('41111');
    expect(text).toContain('TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC');
  });
});

describe('the result', () => {
  it('shows outcome, difference, what is left and what was done about it', () => {
    const text = resultText('w-1', {
      outcome: 'completed_partially',
      order,
      adopted: false,
      difference: { to: '-0.50' },
      remainder: [{ kind: 'unpaid', currency: 'usd', amount: '0.50' }],
      compensation: { policy: 'finish', status: 'done', order_id: 'w-1.r1', outcome: 'completed' },
      decisions: [
        { action: 'resend', by: 'ann', reason: 'looked', revision: 4, at: 'now' },
        { action: 'approve', amount: '686.04', currency: 'usd', by: 'ben', reason: 'meant', revision: 5, at: 'now' },
      ],
    });
    expect(text).toMatch(/^outcome +completed_partially$/m);
    expect(text).toMatch(/^difference +from 0, to -0.50$/m);
    // Its follow-up has paid it.
    expect(text).toMatch(/^was left +0.50 usd unpaid$/m);
    expect(text).toMatch(/^compensation +finish, done, w-1.r1, completed$/m);
    expect(text).toMatch(
      /^decided +resend by ann: looked \(now\)\ndecided +approve 686\.04 usd by ben: meant \(now\)$/m,
    );
  });
});

describe('the decision', () => {
  const said = { by: '<your name>', reason: '<why>', revision: 4, runId: 'r-1' };
  const choices: DecisionChoice[] = [
    { does: 'sends it again', decision: { action: 'resend', ...said } },
    { does: 'follows the order that you name', needs: 'order_uuid', decision: { action: 'adopt', ...said } },
    { does: 'pays 5 usd', decision: { action: 'finish', kind: 'unpaid', as: 'withdraw', ...said } },
    { does: 'sends it', decision: { action: 'approve', amount: '686.04', currency: 'usd', ...said } },
  ];

  it('is offered as one command line per decision, which a shell takes as it stands', () => {
    const by = "--by '<your name>' --reason '<why>' --revision 4 --run r-1";
    expect(decideCommands('payment-orders', 'shop', 'w-1', { ...parked, decisions: choices })).toEqual([
      `payment-orders order decide w-1 --account shop --action resend ${by}  # sends it again`,
      `payment-orders order decide w-1 --account shop --action adopt ${by} --order-uuid '<order_uuid>'  # follows the order that you name`,
      `payment-orders order decide w-1 --account shop --action finish --kind unpaid --as withdraw ${by}  # pays 5 usd`,
      `payment-orders order decide w-1 --account shop --action approve --amount 686.04 --currency usd ${by}  # sends it`,
    ]);
  });

  it('names the key where it must be signed', () => {
    const signed: OrderState = { ...parked, decisions: choices.slice(0, 1), onlyByCommand: 'signed' };
    expect(decideCommands('payment-orders', 'default', 'w-1', signed)[0]).toContain(
      "--key '<file of your private key>'",
    );
  });

  it('is not offered when there is nothing to decide', () => {
    expect(decideCommands('payment-orders', 'default', 'w-1', parked)).toEqual([]);
  });
});

it('a progress line changes with phase, status and attention only', () => {
  expect(progressLine(parked)).toBe('parked, not known at the service yet, attention: outcome unknown');
  expect(progressLine({ ...parked, lastLookupAt: 'later', revision: 9 })).toBe(progressLine(parked));
  expect(progressLine(undefined)).toContain('no worker answers for this order');
});

it('tables are aligned, and control characters stand there by name', () => {
  expect(
    table([
      ['a', 'b'],
      ['long', '\u001b[31mred\n'],
    ]),
  ).toBe('a     b\nlong  <U+001B>[31mred');
});

it('an empty list says so', () => {
  expect(listText([])).toBe('no orders');
});

describe('rows of an answer', () => {
  const fields = ['currency', 'amount', 'updated_at'];

  it('stand under the names of their fields', () => {
    expect(rowsText(fields, [{ currency: 'usd', amount: '5', updated_at: null, overdraft: '1' }])).toBe(
      'currency  amount  updated_at\nusd       5',
    );
  });

  it('say that they cannot be read', () => {
    expect(rowsText(fields, [{ currency: 'usd', malformed: 'amount: is no number' }])).toMatch(
      /^usd +cannot be read: amount: is no number$/m,
    );
  });
});

describe('a list on a narrow terminal', () => {
  const rows = [
    ['w-1', 'a long reason', '12.50 usd'],
    ['w-2', '', '3 usd'],
  ];
  const headings = ['order', 'attention', 'amount'];

  it('is a table where it fits, or where nobody says how wide it is', () => {
    expect(headed(headings, rows)).toBe(headed(headings, rows, 80));
    expect(headed(headings, rows).split('\n')).toHaveLength(3);
  });

  it('shows each row by itself where it does not, cuts nothing, and leaves out what is empty', () => {
    const shown = headed(headings, rows, 30);
    expect(shown).toBe('order      w-1\nattention  a long reason\namount     12.50 usd\n\norder   w-2\namount  3 usd');
  });
});
