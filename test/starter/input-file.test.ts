import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { checkOrderInput, checkWith } from '../../src/client/checked-input.js';
import { InvalidInputError } from '../../src/client/errors.js';
import { parseInput, readInput } from '../../src/starter/input.js';
import { UsageError } from '../../src/starter/report.js';
import { newFolder } from '../support/batch-files.js';

const nothing = Readable.from([]);

async function file(content: string | Uint8Array): Promise<string> {
  const path = join(newFolder(), 'input.json');
  await writeFile(path, content);
  return path;
}

describe('reading', () => {
  it('takes a file or standard input', async () => {
    expect(await readInput(await file('{}'), nothing)).toBe('{}');
    expect(await readInput('-', Readable.from([Buffer.from('{"a"'), Buffer.from(':1}')]))).toBe('{"a":1}');
  });

  it('refuses what cannot be read without repeating it: it may be the order itself', async () => {
    const pasted = '{"order":{"wallet":"4111111111111111"}}';
    const refused = await readInput(pasted, nothing).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(UsageError);
    expect(String(refused)).toContain('ENOENT');
    expect(String(refused)).not.toContain('4111');
  });

  it('refuses a folder and more than a megabyte', async () => {
    await expect(readInput(tmpdir(), nothing)).rejects.toThrow('EISDIR');
    const latin1 = Readable.from([Buffer.from('{"description":"f\xfcr"}', 'latin1')]);
    await expect(readInput('-', latin1)).rejects.toThrow('not UTF-8');
    await expect(readInput(await file(Buffer.alloc(1024 * 1024 + 1)), nothing)).rejects.toThrow('longer than');
  });
});

describe('parsing', () => {
  it.each(['', '{', '{"a":1,}', "{'a':1}", '\uFEFF{', '{"a":1}{', 'NaN'])('refuses %j', (text) => {
    expect(() => parseInput(text)).toThrow(UsageError);
  });

  it('quotes nothing of what it refuses', () => {
    expect(() => parseInput('{"wallet": 4111111111111111 "x"')).toThrow(
      /^the input is not JSON[^1]*( at position \d+)?$/,
    );
  });

  it('refuses a repeated key, of which JSON.parse would take the last', () => {
    expect(() => parseInput('{"order":{"amount":"1","amount":"100"}}')).toThrow(UsageError);
  });

  it('refuses nesting without end', () => {
    expect(() => parseInput('['.repeat(200_000))).toThrow(UsageError);
  });

  it('keeps other numbers as numbers', () => {
    expect(parseInput('{"order":{"delay_order_for_minutes":30}}')).toEqual({
      value: { order: { delay_order_for_minutes: 30 } },
      errors: [],
    });
  });

  it('names every amount that is a number, with the digits as written', () => {
    const text = '{"order":{"amount":0.123456789012345678,"wallet_details":[{"amount":1e2,"wallet":"x"}]}}';
    expect(parseInput(text).errors).toEqual([
      { field: 'order.amount', reason: 'amounts are strings: write "0.123456789012345678"' },
      { field: 'order.wallet_details[0].amount', reason: 'amounts are strings: write "1e2"' },
    ]);
  });

  it('keeps a key named __proto__ a plain key', () => {
    const { value } = parseInput('{"__proto__":{"polluted":"yes"}}');
    expect(Object.keys(value as object)).toEqual(['__proto__']);
    expect('polluted' in {}).toBe(false);
  });
});

describe('checking', () => {
  const check = (text: string): unknown => {
    try {
      return checkWith(parseInput(text), (value) => checkOrderInput('exchange', value));
    } catch (error) {
      return error;
    }
  };

  it('names number amounts beside all other bad fields, each once', () => {
    const refused = check('{"order":{"order_id":"o-1","amount":5,"currency_from":"USD","currency_to":"btc"}}');
    expect(refused).toBeInstanceOf(InvalidInputError);
    expect((refused as InvalidInputError).fields).toEqual([
      { field: 'order.amount', reason: 'amounts are strings: write "5"' },
      { field: 'order.currency_from', reason: expect.any(String) },
    ]);
  });

  it('passes a good input on', () => {
    const order = { order_id: 'o-1', amount: '5', currency_from: 'usd', currency_to: 'btc' };
    expect(check(JSON.stringify({ order }))).toEqual({ order });
  });
});
