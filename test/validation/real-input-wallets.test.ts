import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { validateOrderInput } from '../../src/validation/order-input.js';

const FOLDER = new URL('real-input/', import.meta.url);

/** Rows of a small file without quotes, as inputs of the order type that batches start. */
function inputsOf(file: string): { order: Record<string, string> }[] {
  const [head = '', ...lines] = readFileSync(new URL(file, FOLDER), 'utf8').trim().split('\n');
  const names = head.split(',');
  return lines.map((line) => {
    const cells = line.split(',');
    return { order: Object.fromEntries(names.map((name, index) => [name, cells[index] ?? ''])) };
  });
}

it.each([
  ['checksum-btc.csv', ['checksum is wrong', 'checksum is wrong']],
  ['checksum-eth.csv', ['checksum is wrong']],
  ['checksum-tron.csv', ['checksum is wrong']],
  ['homoglyph-wallet.csv', ['U+041D', 'U+0410']],
  ['uri-wallet.csv', ['wallet_memo', 'wallet_memo', 'wallet_memo']],
])('%s: every row is refused by its wallet, which is masked', (file, reasons) => {
  const inputs = inputsOf(file);
  expect(inputs).toHaveLength(reasons.length);
  for (const [index, input] of inputs.entries()) {
    const checked = validateOrderInput('withdraw', input);
    const errors = 'errors' in checked ? checked.errors : [];
    expect(errors.map(({ field }) => field)).toEqual(['order.wallet']);
    expect(errors[0]?.reason).toContain(reasons[index]);
    expect(errors[0]?.reason).not.toContain(input.order.wallet);
  }
});

it.each(['checksum-btc.csv', 'uri-wallet.csv', 'homoglyph-wallet.csv'])(
  '%s: with `warn` every row is a note',
  (file) => {
    for (const input of inputsOf(file)) {
      expect(validateOrderInput('withdraw', input, { formatChecks: 'warn' })).toMatchObject({ input });
    }
  },
);
