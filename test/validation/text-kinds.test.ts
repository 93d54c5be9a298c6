import { describe, expect, it } from 'vitest';
import { addressCreateSchema } from '../../src/payment-service/queries.js';
import { validateOrderInput } from '../../src/validation/order-input.js';
import { textProblem } from '../../src/validation/text-kinds.js';
import { inputWith, SEPA_IBAN } from '../contract/inputs.fixture.js';
import { errorsOf, payout, SEPA } from './refusals.fixture.js';

const DETAILS = 'order.wallet_details';
const named = (recipient_name: string) => payout('sepa', SEPA_IBAN, { ...SEPA, recipient_name });
const memo = (wallet_memo: string) => inputWith('withdraw', { wallet_memo });
const client = (client_id: string) => inputWith('withdraw', { client_info: { client_id } });

/** [what, input, field, what its reason names] */
const REFUSED: [string, unknown, string, RegExp][] = [
  ['a no-break space at the end of a memo', memo('104653012\u00a0'), 'order.wallet_memo', /blank/],
  ['a no-break space inside a memo', memo('tag\u00a0653'), 'order.wallet_memo', /U\+00A0 \(a blank/],
  ['full-width digits', memo('１０４'), 'order.wallet_memo', /U\+FF11 \(a digit/],
  ['a variation selector', memo('1\ufe0f'), 'order.wallet_memo', /U\+FE0F \(an invisible/],
  ['half of a surrogate pair', memo('1\ud800'), 'order.wallet_memo', /U\+D800/],
  ['a Cyrillic bank code', payout('bank', 'acc', { bank_code: 'АВ12' }), `${DETAILS}.bank_code`, /Cyrillic/],
  ['a Cyrillic letter in a wallet', payout('monero', '4Аbc'), 'order.wallet', /\*{4}: .*Cyrillic/],
  ['a name of nothing but an override', named('\u202e'), `${DETAILS}.recipient_name`, /direction of reading/],
  ['a Korean filler in a name', named('Anna\u3164'), `${DETAILS}.recipient_name`, /U\+3164/],
  ['a joiner in a Latin name', named('Anna\u200dSmith'), `${DETAILS}.recipient_name`, /U\+200D/],
  ['digits of another script in a name', named('Anna ２'), `${DETAILS}.recipient_name`, /U\+FF12/],
  ['a lost letter in a name', named('M\ufffdller'), `${DETAILS}.recipient_name`, /U\+FFFD/],
  [
    'a Cyrillic letter in an e-mail',
    payout('sepa', SEPA_IBAN, { ...SEPA, recipient_email: 'jаne@example.com' }),
    `${DETAILS}.recipient_email`,
    /Cyrillic/,
  ],
  ['an override in a description', inputWith('withdraw', { description: 'a\u202eb' }), 'order.description', /U\+202E/],
  ['an override in a client id', client('a\u2067b'), 'order.client_info.client_id', /U\+2067/],
  [
    'the memo of a refund',
    inputWith('exchange', {}, { revertTo: { network: 'tron2', wallet: 'w', wallet_memo: ' 1' } }),
    'revertTo.wallet_memo',
    /blank/,
  ],
];

describe('texts of orders', () => {
  it.each(REFUSED)('%s is refused, and a note with warn', (_, input, field, reason) => {
    const type = JSON.stringify(input).includes('revertTo') ? 'exchange' : 'withdraw';
    expect(errorsOf(type, input)).toEqual([{ field, reason: expect.stringMatching(reason) }]);
    expect(validateOrderInput(type, input, { formatChecks: 'warn' })).toMatchObject({
      notes: expect.arrayContaining([{ field, reason: expect.stringMatching(reason) }]),
    });
  });

  it.each([
    ['letters of any script', named('Анна Müller 山田太郎')],
    ['a Persian name with a non-joiner', named('علی\u200cرضا')],
    ['a Malayalam name that ends in a joiner', named('മോഹന്\u200d')],
    ['a Japanese name with a wide blank', named('山田\u3000太郎')],
    ['a memo of words', memo('invoice 12 / part 3')],
    ['a description of any script and with signs', inputWith('withdraw', { description: 'Оплата №5 — 👩‍👧' })],
  ])('%s is accepted', (_, input) => {
    expect(errorsOf('withdraw', input)).toEqual([]);
  });

  it('control characters stay refused with warn', () => {
    const checked = validateOrderInput('withdraw', memo('1\u0007'), { formatChecks: 'warn' });
    expect(checked).toMatchObject({ errors: [{ field: 'order.wallet_memo' }] });
  });

  it('an order id names its look-alike letter', () => {
    expect(errorsOf('withdraw', inputWith('withdraw', { order_id: 'pay-А1' }))[0]?.reason).toMatch(
      /must be 1 to 120 .*U\+0410 \(a Cyrillic letter/,
    );
  });

  it('long texts are judged in linear time', () => {
    const started = performance.now();
    for (const kind of ['code', 'name', 'free'] as const) {
      textProblem(kind, `${' '.repeat(100_000)}a`);
      textProblem(kind, `${'山\u3000'.repeat(40_000)}\u200d`);
    }
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});

// `field-errors.test.ts` has rows of batches and refunds.
describe('texts elsewhere', () => {
  it.each([
    [{ address_title: 'a\u202eb' }, ['address_title']],
    [{ client_info: { client_id: 'a\u2066b' } }, ['client_info', 'client_id']],
  ])('permanent addresses: %j', (fields, path) => {
    const checked = addressCreateSchema.safeParse({ currency: 'btc', network: 'bitcoin', ...fields });
    expect(checked.error?.issues).toMatchObject([{ path, message: expect.stringMatching(/U\+20/) }]);
  });
});
