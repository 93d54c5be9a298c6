import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { checkOrderInput } from '../../src/client/checked-input.js';
import { ORDER_TYPES } from '../../src/contract/order/types.js';
import { checkWith, parseInput } from '../../src/starter/input.js';

const folder = new URL('../../examples/', import.meta.url);

describe('the examples', () => {
  it('have one input per order type', async () => {
    const files = (await readdir(folder)).filter(
      (name) => name.endsWith('.json') && !['accounts.json', 'approvers.json'].includes(name),
    );
    expect(files.toSorted()).toEqual(ORDER_TYPES.map((type) => `${type}.json`).toSorted());
  });

  it.each(ORDER_TYPES)('%s.json is a valid input', async (type) => {
    const parsed = parseInput(await readFile(new URL(`${type}.json`, folder), 'utf8'));
    expect(checkWith(parsed, (value) => checkOrderInput(type, value)).order.order_id).toMatch(/^example-/);
  });
});
