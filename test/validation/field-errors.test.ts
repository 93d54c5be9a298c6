import { describe, expect, it, test } from 'vitest';
import * as z from 'zod';
import { validateBatchInput } from '../../src/validation/batch-input.js';
import { fieldErrors } from '../../src/validation/field-errors.js';
import { validateOrderInput, validateReceivedInput } from '../../src/validation/order-input.js';
import { checkAgainstRates, uncheckableBy } from '../../src/validation/rate-checks.js';
import { CARD, inputWith } from '../contract/inputs.fixture.js';
import { BANK_UA, cards, payout, SEPA } from './refusals.fixture.js';

const refused = (input: unknown) => validateOrderInput('withdraw', input);
const warned = (input: unknown) => validateOrderInput('withdraw', input, { formatChecks: 'warn' });

/** [what breaks a rule that is ours, input, field] */
const OURS: [string, unknown, string][] = [
  ['a card with a wrong check digit', payout('card', '4111111111111112'), 'order.wallet'],
  ['an address of another kind', payout('tron', '0x52908400098527886E0F7030069857D2E4169EE7'), 'order.wallet'],
  [
    'a tax number of 12 digits',
    payout('bank_ua', 'UA213223130000026007233566001', { ...BANK_UA, taxpayer_number: '123456789012' }),
    'order.wallet_details.taxpayer_number',
  ],
  ['details where none are known', payout('card', CARD, { holder: 'Jane' }), 'order.wallet_details'],
  [
    'the same card twice',
    cards({ wallet_details: [...['50', '50']].map((amount) => ({ amount, wallet: CARD })), amount: '100' }),
    'order.wallet_details[1].wallet',
  ],
];

describe('a rule that is ours', () => {
  it.each(OURS)('%s: refused by default, a note with warn', (_, input, field) => {
    expect(refused(input)).toMatchObject({ errors: expect.arrayContaining([expect.objectContaining({ field })]) });
    const checked = warned(input);
    expect(checked).toMatchObject({ notes: expect.arrayContaining([expect.objectContaining({ field })]) });
    expect(JSON.stringify('notes' in checked && checked.notes)).not.toContain('41111');
  });

  it('about a wallet for refunds, too', () => {
    const revertTo = { network: 'card', wallet: '4111111111111112' };
    const received = { ref: 'r', order_uuid: 'u', revertTo };
    expect(refused({ ...payout('card', CARD), revertTo })).toMatchObject({ errors: [{ field: 'revertTo.wallet' }] });
    // A receipt exists already.
    expect(validateReceivedInput(received)).toEqual({ input: received });
  });

  it('in rows of a batch, too', () => {
    const { order } = payout('card', '4111111111111112') as { order: unknown };
    const batch = { rows: [order], startedBy: 'ann' };
    expect(validateBatchInput(batch)).toMatchObject({ errors: [{ field: 'rows[0].wallet' }] });
    expect(validateBatchInput(batch, 'warn')).toHaveProperty('input');
  });

  it('a pair that rates do not show', () => {
    const { order } = inputWith('withdraw', {}) as { order: never };
    expect(checkAgainstRates('withdraw', order, { withdraw: {} })).toHaveLength(1);
    expect(uncheckableBy({ withdraw: {} }, 'withdraw', order)).toBeUndefined();
    expect(uncheckableBy({ withdraw: {} }, 'withdraw', order, 'warn')).toMatch(/is not offered/);
  });
});

test.each([
  ['no wallet', payout('card', '')],
  ['a wallet with a blank', payout('tron', 'T JRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC')],
  ['a list of details', payout('sepa', 'DE89370400440532013000', [SEPA])],
  ['a sum that is another', cards({ amount: '1.01' })],
  ['an amount that is none', inputWith('withdraw', { amount: '-1' })],
])('what no service can mean is refused with warn, too: %s', (_, input) => {
  expect(warned(input)).toHaveProperty('errors');
});

test('details of a network that is not known here pass, with a note', () => {
  const input = payout('pix', 'key-1', { key_type: 'email' });
  expect(refused(input)).toEqual({
    input,
    notes: [{ field: 'order.wallet_details', reason: expect.stringContaining('not known here') }],
  });
});

const shownKeyOf = (key: string) =>
  fieldErrors(z.strictObject({}).safeParse({ [key]: 1 }).error as z.ZodError)[0]?.field;

test.each([
  ['4111\u200b1111\u200b1111\u200b1111', '****'],
  ['4111，1111，1111，1111', '****'],
  [CARD, '****'],
  // Half a number would pass the mask.
  [`${'a '.repeat(25)}4111 1111 1111 1111`, `${'a '.repeat(25)}****`],
  ['größe\n', 'gr??e?'],
  ['deposit_address_initial_order_uuid', 'deposit_address_initial_order_uuid'],
])('key %j is shown as %j', (key, shown) => {
  expect(shownKeyOf(key)).toBe(shown);
});
