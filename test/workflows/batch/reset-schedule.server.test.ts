import { expect, test } from 'vitest';
import { resetTo, resettableEvents, runOf } from '../../reliability/reset.fixture.js';
import { executedOf, useBatchLab } from './batches.fixture.js';
import { schedule, trigger, writeOld } from './schedules.fixture.js';

const lab = useBatchLab();

test('a scheduled batch that is reset to each of its events finds the batch of its period, and pays nothing more', async () => {
  const plan = await schedule(lab, 'plan');
  const rows = await writeOld(lab, plan);
  const { run: handle } = await trigger(lab, plan);
  const result = await handle.result();
  expect(result).toMatchObject({ started: 3, outcomes: { completed: 3 } });
  const first = await runOf(lab, handle);
  for (const eventId of await resettableEvents(lab, first)) {
    await resetTo(lab, first, eventId);
    expect(await handle.result()).toEqual(result);
  }
  expect(executedOf(lab, rows)).toBe(3);
});
