import type { ApplicationFailure } from '@temporalio/common';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { BatchState } from '../../../src/contract/batch/batch.js';
import { searchAttribute } from '../../../src/contract/names.js';
import { detailsOf, filledIn, paste, pasteableIn } from '../order/details.fixture.js';
import { runSizes } from './batch-history.fixture.js';
import { startRows, testRows, untilPhase, untilState, useBatchLab } from './batches.fixture.js';

const lab = useBatchLab();

const describeWorkflow = (workflowId: string) => lab.temporal.client.workflow.getHandle(workflowId).describe();

function tooMany(error: Error): void {
  expect(error.message).toMatch(/too many requests|paused already|not paused|went on in a new one/);
}

/** The SDK's worker gives up an activity, and drops its answer, when it was told no beat for the heartbeat time-out and 5 s more. */
const GIVEN_UP_AFTER_MS = 15_000;

const msOf = ({ seconds, nanos }: { seconds?: unknown; nanos?: number | null }): number =>
  Number(seconds) * 1_000 + (nanos ?? 0) / 1e6;

describe.concurrent('a batch', () => {
  test('answers in the first attempt of a chunk that waits longer than a worker waits for beats', async () => {
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
          const started = events.find(
            ({ eventId }) => completed && String(eventId) === String(completed.startedEventId),
          );
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

  test('that lives long goes on in a new run before 500 events, with its state, answering updates', {
    timeout: 120_000,
  }, async () => {
    const { client } = lab.temporal;
    const batch = await startRows(lab, testRows('long', 30), { maxInFlight: 1 });
    const { runId } = await describeWorkflow(batch.workflowId);
    for (let cycle = 0; (await describeWorkflow(batch.workflowId)).runId === runId && cycle < 300; cycle += 1) {
      // Refused where too many come at once, which keeps the history short.
      await batch.pause({ by: 'bob', reason: `pause ${cycle}` }).catch(tooMany);
      await batch.resume({ by: 'bob', reason: `resume ${cycle}` }).catch(tooMany);
    }
    // The last resume may have been for the run that was over just then.
    if ((await batch.state()).paused) await batch.resume({ by: 'bob', reason: 'the last one' });
    const { plan, sendingSince } = await untilState(batch, ({ phase }) => phase === 'sending');
    expect(plan?.rows).toBe(30);
    expect(sendingSince).toBeDefined();
    await batch.stop({ by: 'bob', reason: 'long enough' });
    await batch.result();
    const sizes = await runSizes(client, batch.workflowId);
    expect(sizes.length).toBeGreaterThan(1);
    for (const { events, largestPayload } of sizes) {
      expect(events).toBeLessThanOrEqual(500);
      expect(largestPayload).toBeLessThan(100_000);
    }
  });
});

const REFUSED = { cause: { type: 'Refused' } };

/** A batch that waits for an approval, and one that paused by itself, as the balance does not cover it. */
const WAITING = {
  approval: {
    start: () => {
      lab.sandbox.set({ balances: { usd: '1000' } });
      return startRows(lab, testRows('approve', 2), { approval: 'required' });
    },
    phase: 'awaitingApproval',
    pasted: ['approve', 'stop'],
    says: /whether 2 rows and 25 usd are right.* Anybody but `\S+`, who started it, may approve\. If nobody does before (\S+ \S+) UTC/,
  },
  'batch-paused': {
    start: () => {
      lab.sandbox.set({ balances: { usd: '20' } });
      return startRows(lab, testRows('short', 2));
    },
    phase: 'paused',
    pasted: ['resume', 'stop'],
    says: /\*\*Sent\*\*: 0 of 2 rows were started.*nothing continues without it/s,
  },
} as const;

describe('what the page of a batch that waits holds to be pasted', () => {
  test.for(Object.entries(WAITING))('%s: each is taken, its placeholders are not', async ([code, waiting]) => {
    for (const index of waiting.pasted.keys()) {
      const batch = await waiting.start();
      const { choices, attentionCode, paused } = await untilPhase(batch, waiting.phase);
      expect(attentionCode).toBe(code);
      const details = await detailsOf(lab, batch);
      expect(details).toMatch(/^\*\*Never pay these rows in another way/);
      expect(details).toMatch(waiting.says);
      const [, expires] = waiting.says.exec(details) ?? [];
      if (expires) expect(Math.abs(Date.parse(`${expires}Z`) - Date.now() - 86_400_000)).toBeLessThan(60_000);
      const found = pasteableIn(details);
      expect(found.map(({ update }) => update)).toEqual(waiting.pasted);
      expect(choices.map(({ update, argument }) => ({ update, argument }))).toEqual(
        found.map(({ update, json }) => ({ update, argument: JSON.parse(json) })),
      );
      const described = await lab.temporal.client.workflow.getHandle(batch.workflowId).describe();
      expect(described.typedSearchAttributes.get(searchAttribute.attentionReason)).toBe(code);
      expect(described.typedSearchAttributes.get(searchAttribute.amount)).toBe('25 usd');
      const { update = '', json = '' } = found[index] ?? {};
      await expect(paste(lab, batch, update, json)).rejects.toMatchObject(REFUSED);
      await paste(lab, batch, update, filledIn(json));
      // A resumed batch meets the same row again, and pauses anew.
      const isTaken = (now: BatchState) => now.stopped || now.attentionCode !== code || now.paused?.at !== paused?.at;
      await untilState(batch, (now) => Boolean(isTaken(now)));
    }
  });
});

/** [what, workflow id, input as anybody may send it, the field that the failure names] */
const GARBAGE: [string, string, unknown, string][] = [
  ['nothing at all', 'bulk:default:g-nothing', undefined, 'input'],
  ['a text', 'bulk:default:g-text', 'garbage', 'input'],
  [
    'nested too deeply',
    'bulk:default:g-deep',
    { batchId: 'g-deep', rows: JSON.parse(`${'['.repeat(99)}${']'.repeat(99)}`) },
    'input',
  ],
  ['an account as number', 'bulk:default:g-account', { account: 7, batchId: 'g-account' }, 'account'],
  ['no batch id', 'bulk:default:g-id', { startedBy: 'ann' }, 'batchId'],
  ['another workflow id', 'bulk:default:g-other', { batchId: 'g-another' }, 'batchId'],
  ['a plan under the id of a batch', 'bulk:default:g-plan', { batchId: 'g-plan', planOnly: true }, 'planOnly'],
  ['neither file nor rows', 'bulk:default:g-neither', { batchId: 'g-neither', startedBy: 'ann' }, 'file'],
  [
    'an unknown field',
    'bulk:default:g-field',
    { batchId: 'g-field', startedBy: 'ann', file: { path: 'x.csv' }, aproval: 'required' },
    'aproval',
  ],
  ['too long for the history', 'bulk:default:g-long', { batchId: 'g-long', rows: ['x'.repeat(50_000)] }, 'rows'],
];

describe('garbage started without our client', () => {
  beforeAll(() =>
    Promise.all(
      GARBAGE.map(([, workflowId, input]) =>
        lab.temporal.client.workflow.start('bulkWithdraw', { workflowId, taskQueue: 'payment-orders', args: [input] }),
      ),
    ),
  );

  test.for(GARBAGE)('%s fails as InvalidInput that names the field', async ([, workflowId, , field]) => {
    const handle = lab.temporal.client.workflow.getHandle(workflowId);
    const error = await handle.result().catch(({ cause }: { cause: unknown }) => cause);
    expect(error).toMatchObject({ type: 'InvalidInput', nonRetryable: true });
    const [errors] = (error as ApplicationFailure).details as { field: string }[][];
    expect(errors?.map((bad) => bad.field)).toContain(field);
    const { events } = await handle.fetchHistory();
    expect(events?.filter((event) => event.workflowTaskFailedEventAttributes)).toEqual([]);
  });
});
