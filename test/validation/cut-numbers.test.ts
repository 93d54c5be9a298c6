import { describe, expect, it } from 'vitest';
import type { OrderType } from '../../src/contract/order/types.js';
import { validateOrderInput } from '../../src/validation/order-input.js';
import { inputWith, UA_IBAN } from '../contract/inputs.fixture.js';
import { BANK_UA, errorsOf, payout } from './refusals.fixture.js';

const XRP = 'rN7n7otQDd6FczFgLdSqtcsAUxDkw6fzRH';

const tagged = (wallet_memo: string, network = 'ripple') =>
  inputWith('withdraw', { currency: 'xrp', network, wallet: XRP, wallet_memo });
const refund = (wallet_memo: string) =>
  inputWith('deposit', {}, { compensation: 'report', revertTo: { network: 'xrp', wallet: XRP, wallet_memo } });

describe('a tag of the XRP ledger', () => {
  it.each<[what: string, input: unknown, field: string, type?: OrderType]>([
    ['cut to 15 digits', tagged('1234567890123450000'), 'order.wallet_memo'],
    ['one above 32 bits', tagged('4294967296'), 'order.wallet_memo'],
    ['with a letter', tagged('1046530l2'), 'order.wallet_memo'],
    ['with a minus', tagged('-1', 'xrp'), 'order.wallet_memo'],
    ['of words', tagged('invoice 104'), 'order.wallet_memo'],
    ['in hexadecimal digits', tagged('0x63d'), 'order.wallet_memo'],
    ['of a refund', refund('4294967296'), 'revertTo.wallet_memo', 'deposit'],
  ])('%s is refused, and a note with warn', (_, input, field, type = 'withdraw') => {
    const problem = { field, reason: expect.stringMatching(/tag .* whole number from 0 to 4294967295/) };
    expect(errorsOf(type, input)).toEqual([problem]);
    expect(validateOrderInput(type, input, { formatChecks: 'warn' })).toMatchObject({
      notes: expect.arrayContaining([problem]),
    });
  });

  it.each(['0', '104653012', '0104653012', '4294967295'])('%s is accepted', (tag) => {
    expect(validateOrderInput('withdraw', tagged(tag))).not.toHaveProperty('notes');
    expect(errorsOf('withdraw', tagged(tag))).toEqual([]);
  });

  it('in full-width digits is refused by its first bad character', () => {
    expect(errorsOf('withdraw', tagged('１04'))).toEqual([
      { field: 'order.wallet_memo', reason: expect.stringMatching(/U\+FF11 \(a digit/) },
    ]);
  });
});

const memo = (wallet_memo: string) => inputWith('withdraw', { network: 'stellar', wallet: 'G1', wallet_memo });

describe('a number with zeros behind its 15th digit', () => {
  it.each<[what: string, input: unknown, field: string]>([
    ['a memo', memo('1234567890123460000'), 'order.wallet_memo'],
    ['a memo of 16 digits', memo('1234567890123450'), 'order.wallet_memo'],
    ['an account', payout('clabe', '002115016003260000'), 'order.wallet'],
    ['a long account', payout('elixir', '61109010140000000000000000'), 'order.wallet'],
    ['a card of 19 digits', payout('card', '6304000000000180000'), 'order.wallet'],
    ['a bank code', payout('bank', 'acc', { bank_code: '20211501600326000' }), 'order.wallet_details.bank_code'],
    [
      'the wallet of a refund',
      inputWith('exchange', {}, { revertTo: { network: 'clabe', wallet: '002115016003260000' } }),
      'revertTo.wallet',
    ],
  ])('%s is noted, without the number', (_, input, field) => {
    const type = JSON.stringify(input).includes('revertTo') ? 'exchange' : 'withdraw';
    const checked = validateOrderInput(type, input);
    expect(checked).toMatchObject({ notes: [{ field, reason: expect.stringMatching(/15 digits/) }] });
    expect(JSON.stringify('notes' in checked && checked.notes)).not.toMatch(/\d{5}/);
  });

  it.each([
    ['a card whose check digit is 0', payout('card', '4000000000000010')],
    ['a memo with a digit behind the 15th', memo('1234567890123450001')],
    ['a memo of 15 digits', memo('123456789012340')],
    ['a memo with words', memo('invoice 1234567890123450000')],
    ['a tax number', payout('bank_ua', UA_IBAN, BANK_UA)],
    ['a description', inputWith('withdraw', { description: '1234567890123450000' })],
  ])('%s is not', (_, input) => {
    expect(validateOrderInput('withdraw', input)).not.toHaveProperty('notes');
  });
});
