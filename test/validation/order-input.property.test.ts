import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { passesLuhn } from '../../src/contract/masking.js';
import { ORDER_TYPES } from '../../src/contract/order/types.js';
import { withoutNulls } from '../../src/contract/without-nulls.js';
import { validateOrderInput } from '../../src/validation/order-input.js';
import { REQUESTS, SEPA_IBAN } from '../contract/inputs.fixture.js';

const types = fc.constantFrom(...ORDER_TYPES);
const names = (
  'order revertTo compensation order_id amount amount_to currency network network_to wallet wallet_details ' +
  'client_info description'
).split(' ');
const garbage = fc.anything({
  key: fc.oneof(fc.constantFrom(...names, '__proto__', 'constructor'), fc.string()),
  withBigInt: true,
  withNullPrototype: true,
  withDate: true,
  withMap: true,
});

const fields = fc.constantFrom(...names.slice(2));

/** Card numbers with a right check digit. */
const cardNumbers = fc
  .stringMatching(/^[1-9]\d{14}$/)
  .map((digits) => `${digits}${[...'0123456789'].find((last) => passesLuhn(digits + last))}`);

/** Every string in which a value occurs. */
const shows = (errors: unknown, value: string) => JSON.stringify(errors).includes(value);

describe('validateOrderInput', () => {
  it('answers garbage of any shape with errors and never throws', () => {
    fc.assert(
      fc.property(types, garbage, (type, input) => {
        expect(validateOrderInput(type, input)).toHaveProperty('errors');
      }),
      { numRuns: 500 },
    );
  });

  it('never throws on garbage in any one field, and changes nothing but nulls in JSON that it accepts', () => {
    fc.assert(
      fc.property(types, fields, garbage, fc.jsonValue(), (type, field, value, json) => {
        validateOrderInput(type, { order: { ...REQUESTS[type], [field]: value } });
        const input = { order: { ...REQUESTS[type], [field]: json } };
        const checked = validateOrderInput(type, input);
        if ('input' in checked) expect(checked.input).toEqual(withoutNulls(input));
      }),
      { numRuns: 1000 },
    );
  });

  it('survives deep nesting', () => {
    const deep = JSON.parse(`${'{"order":'.repeat(3_000)}1${'}'.repeat(3_000)}`);
    expect(validateOrderInput('deposit', deep)).toHaveProperty('errors');
    expect(validateOrderInput('withdraw', { order: { ...REQUESTS.withdraw, wallet_details: deep } })).toHaveProperty(
      'errors',
    );
  });

  it('never shows a wallet or e-mail in an error, wherever it was put', () => {
    const secrets = fc.oneof(cardNumbers, fc.constant(SEPA_IBAN), fc.constant('jane.doe@example.com'));
    const fieldNames = 'order_id amount currency network wallet wallet_memo description walet callback_url'.split(' ');
    const places = fc.uniqueArray(fc.constantFrom(...fieldNames), { minLength: 1 });
    fc.assert(
      fc.property(secrets, places, fc.boolean(), (secret, fields, asKey) => {
        const order = { ...REQUESTS.withdraw, x: 1, ...Object.fromEntries(fields.map((field) => [field, secret])) };
        const details = { [asKey ? secret : 'recipient_email']: secret };
        const input = {
          order: { ...order, wallet_details: details },
          revertTo: { network: secret, wallet: `${secret} ` },
          [secret]: 1,
        };
        const checked = validateOrderInput('withdraw', input);
        expect(checked).toHaveProperty('errors');
        expect(shows(checked, secret)).toBe(false);
      }),
    );
  });
});
