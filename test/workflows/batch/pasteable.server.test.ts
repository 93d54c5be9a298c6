import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BatchState } from '../../../src/contract/batch/batch.js';
import { searchAttribute } from '../../../src/contract/names.js';
import { testApprovers } from '../../support/approvers.js';
import { detailsOf, filledIn, paste, pasteableIn } from '../order/details.fixture.js';
import { type BatchLab, openBatchLab, startRows, testRows, untilPhase, untilState } from './batches.fixture.js';

let lab: BatchLab;
beforeAll(async () => {
  lab = await openBatchLab();
});
afterAll(() => lab?.close());

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
  },
  'batch-paused': {
    start: () => {
      lab.sandbox.set({ balances: { usd: '20' } });
      return startRows(lab, testRows('short', 2));
    },
    phase: 'paused',
    pasted: ['resume', 'stop'],
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

test('where approvals are signed the page names the command, and holds only the stop', async () => {
  const signed = await openBatchLab({ limits: { approvers: testApprovers() } });
  try {
    const batch = await startRows(signed, testRows('signed', 2), { approval: 'required' });
    await untilPhase(batch, 'awaitingApproval');
    const details = await detailsOf(signed, batch);
    expect(details).toContain(`\`payment-orders batch show ${batch.batchId}\` prints the command`);
    expect(pasteableIn(details).map(({ update }) => update)).toEqual(['stop']);
  } finally {
    await signed.close();
  }
});
