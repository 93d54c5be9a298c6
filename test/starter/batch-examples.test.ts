import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { payrollSchedule } from '../../examples/payroll.js';
import { orderInputOf, readBatchSource } from '../../src/batch-files/source.js';
import { validateScheduleInput } from '../../src/client/schedule-spec.js';
import type { BatchInput } from '../../src/contract/batch/batch.js';
import { validateOrderInput } from '../../src/validation/order-input.js';
import { fileOfPeriod } from '../../src/validation/periods.js';

describe('the payroll example', () => {
  it('is a valid schedule', () => {
    expect(validateScheduleInput(payrollSchedule)).toEqual({ input: payrollSchedule });
  });

  it('finds its file, in which every row is valid', async () => {
    const path = fileOfPeriod(payrollSchedule.filePattern, '2026-11-27');
    const batchDir = fileURLToPath(new URL('../../examples', import.meta.url));
    const source = await readBatchSource({ batchDir }, { file: { path } });
    const input: BatchInput = { ...payrollSchedule.batch, batchId: 'payroll.2026-11-27', file: { path } };
    const found = [...source.rows()].map((row) => validateOrderInput('withdraw', orderInputOf(row, input)));
    expect(found).toHaveLength(3);
    expect(found).toEqual(found.map(() => ({ input: expect.anything() })));
  });
});
