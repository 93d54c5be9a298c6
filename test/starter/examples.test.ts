import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { payrollSchedule } from '../../examples/payroll.js';
import { orderInputOf, readBatchSource } from '../../src/batch-files/source.js';
import { validateScheduleInput } from '../../src/client/batch/schedule-spec.js';
import { checkOrderInput, checkWith } from '../../src/client/checked-input.js';
import type { BatchInput } from '../../src/contract/batch/batch.js';
import { ORDER_TYPES } from '../../src/contract/order/types.js';
import { parseInput } from '../../src/starter/input.js';
import { fileOfPeriod } from '../../src/validation/batch-input.js';
import { validateOrderInput } from '../../src/validation/order-input.js';

const folder = new URL('../../examples/', import.meta.url);

describe('the examples', () => {
  it('have one input per order type', async () => {
    const files = (await readdir(folder)).filter(
      (name) =>
        name.endsWith('.json') && !['accounts.json', 'approvers.json', 'events.json', 'policy.json'].includes(name),
    );
    expect(files.toSorted()).toEqual(ORDER_TYPES.map((type) => `${type}.json`).toSorted());
  });

  it.each(ORDER_TYPES)('%s.json is a valid input', async (type) => {
    const parsed = parseInput(await readFile(new URL(`${type}.json`, folder), 'utf8'));
    expect(checkWith(parsed, (value) => checkOrderInput(type, value)).order.order_id).toMatch(/^example-/);
  });
});

describe('the payroll example', () => {
  it('is a valid schedule', () => {
    expect(validateScheduleInput(payrollSchedule)).toEqual({ input: payrollSchedule });
  });

  it('finds its file, in which every row is valid', async () => {
    const path = fileOfPeriod(payrollSchedule.filePattern, '2026-11-27');
    const batchDir = fileURLToPath(folder);
    const source = await readBatchSource({ batchDir }, { file: { path } });
    const input: BatchInput = { ...payrollSchedule.batch, batchId: 'payroll.2026-11-27', file: { path } };
    const found = [...source.rows()].map((row) => validateOrderInput('withdraw', orderInputOf(row, input)));
    expect(found).toHaveLength(3);
    expect(found).toEqual(found.map(() => ({ input: expect.anything() })));
  });
});
