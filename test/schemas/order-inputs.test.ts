import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { ORDER_TYPES, type OrderType } from '../../src/contract/order/types.js';
import { validateOrderInput } from '../../src/validation/order-input.js';
import { inputOf } from '../contract/inputs.fixture.js';
import '../validation/order-fields.test.js';
import '../validation/order-input.test.js';
import { ACCEPTED, CATALOGUE } from '../validation/refusals.fixture.js';
import { misfit } from './ajv.fixture.js';

/** Reasons that JSON Schema cannot express, with the number of their inputs in the catalogue: docs/other-languages.md. */
const BEYOND: [reason: RegExp, inputs: number][] = [
  [/^contains the order's own wallet or e-mail$/, 7],
  [/^must not hold a card number or IBAN/, 1],
  [/check digit|its checksum|not an address of this network/, 6],
  [/^must differ from currency_from$/, 1],
  [/^the amounts do not add up/, 2],
  [/^the same card as in/, 1],
];

const asJson = (input: unknown): unknown =>
  JSON.parse(JSON.stringify(input, (_, value) => (typeof value === 'bigint' ? Number(value) : value)));

const errorsOf = (type: OrderType, input: unknown) => {
  const checked = validateOrderInput(type, input);
  return 'errors' in checked ? checked.errors : [];
};

test('the schema refuses every bad input of the catalogue but for what JSON Schema cannot express', () => {
  const found = BEYOND.map(() => 0);
  const missed: unknown[] = [];
  let refused = 0;
  // Other tests may share this process and add their inputs; those of the caller's marks do.
  const own = CATALOGUE.filter(({ input }) => !('reference' in Object(input) || 'metadata' in Object(input)));
  for (const { type, input } of own) {
    const sent = asJson(input);
    const reasons = errorsOf(type, sent).map(({ reason }) => reason);
    // What JSON cannot say, such as undefined, is another input on the wire.
    if (reasons.length === 0) continue;
    refused += 1;
    if (misfit(`order-input.${type}`, sent) !== undefined) continue;
    const row = BEYOND.findIndex(([reason]) => reasons.every((one) => reason.test(one)));
    if (row < 0) missed.push({ type, sent, reasons });
    else found[row] = (found[row] ?? 0) + 1;
  }
  expect(missed).toEqual([]);
  expect(found).toEqual(BEYOND.map(([, inputs]) => inputs));
  expect(refused).toBeGreaterThan(150);
});

test('the schema accepts every input that the code accepts', () => {
  const plain = ORDER_TYPES.map((type) => ({ type, input: inputOf(type) }));
  expect(ACCEPTED.length).toBeGreaterThan(25);
  for (const { type, input } of [...ACCEPTED, ...plain]) {
    expect(misfit(`order-input.${type}`, asJson(input)), JSON.stringify(input)).toBeUndefined();
  }
});

test.each(ORDER_TYPES)('examples/%s.json fits, also with null for every field that it leaves out', async (type) => {
  const example = JSON.parse(await readFile(new URL(`../../examples/${type}.json`, import.meta.url), 'utf8'));
  const name = `order-input.${type}`;
  expect(misfit(name, example)).toBeUndefined();
  const nulls = { account: null, revertTo: null, resend: null, latestSend: null, batchId: null };
  const withNulls = { ...nulls, ...example, order: { description: null, client_info: null, ...example.order } };
  expect(misfit(name, withNulls)).toBeUndefined();
  expect(errorsOf(type, withNulls)).toEqual([]);
  expect(misfit(name, { ...example, order: { ...example.order, amount: 5 } })).toBeDefined();
});
