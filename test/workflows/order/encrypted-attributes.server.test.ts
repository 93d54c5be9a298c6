import { expect, test } from 'vitest';
import { searchAttribute } from '../../../src/contract/names.js';
import { openLab } from '../../support/lab.js';
import { keyOf } from '../../temporal/stored-bytes.fixture.js';
import { parkedFor, startSteered } from '../compensation/parked-orders.fixture.js';

test('where payloads are encrypted the list shows why and since when, and no amount', async () => {
  const encrypted = await openLab({ encryptionKeys: [keyOf('a')] });
  try {
    const { handle } = await startSteered(encrypted, 'withdraw', {
      marker: 'outcome=completed_partially fraction=0.4',
      compensation: 'ask',
    });
    const { attention } = await parkedFor(handle);
    const described = await encrypted.temporal.client.workflow.getHandle(handle.workflowId).describe();
    const attributes = described.typedSearchAttributes;
    expect(attributes.get(searchAttribute.attentionReason)).toBe('remainder');
    expect(attributes.get(searchAttribute.attentionSince)?.toISOString()).toBe(attention?.since);
    expect(attributes.get(searchAttribute.amount)).toBeUndefined();
  } finally {
    await encrypted.close();
  }
});
