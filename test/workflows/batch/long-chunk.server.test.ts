import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type BatchLab, openBatchLab, startRows, testRows } from './batches.fixture.js';

let lab: BatchLab;
beforeAll(async () => {
  lab = await openBatchLab();
});
afterAll(() => lab?.close());

/** The SDK's worker gives up an activity, and drops its answer, when it was told no beat for the heartbeat time-out and 5 s more. */
const GIVEN_UP_AFTER_MS = 15_000;

const msOf = ({ seconds, nanos }: { seconds?: unknown; nanos?: number | null }): number =>
  Number(seconds) * 1_000 + (nanos ?? 0) / 1e6;

test('a chunk that waits longer than a worker waits for beats answers in its first attempt', async () => {
  const batch = await startRows(
    lab,
    testRows('slow', 1, () => 'after_ms=90000'),
  );
  const handle = lab.temporal.client.workflow.getHandle(batch.workflowId);
  const chunk = await vi.waitFor(
    async () => {
      const { pendingActivities } = (await handle.describe()).raw;
      const failed = pendingActivities?.find(({ lastFailure }) => lastFailure);
      if (failed) return { attempt: failed.attempt, failure: failed.lastFailure?.message };
      const { events } = await handle.fetchHistory();
      const long = events?.flatMap(({ eventTime, activityTaskCompletedEventAttributes: completed }) => {
        const started = events.find(({ eventId }) => completed && String(eventId) === String(completed.startedEventId));
        const took = eventTime && started?.eventTime ? msOf(eventTime) - msOf(started.eventTime) : 0;
        return took > GIVEN_UP_AFTER_MS ? [{ attempt: started?.activityTaskStartedEventAttributes?.attempt }] : [];
      });
      if (!long?.[0]) throw new Error('no chunk was as long');
      return long[0];
    },
    { timeout: 100_000, interval: 500 },
  );
  expect(chunk).toEqual({ attempt: 1 });
  await handle.terminate();
}, 120_000);
