import { expect, test } from 'vitest';
import { BY_ITSELF, shownInterruption } from '../../../src/contract/batch/batch.js';

test('what people typed is masked', () => {
  const shown = shownInterruption({ by: 'ann@example.org', reason: 'wrong card 4111111111111111' });
  expect(shown).toEqual({ by: '****', reason: 'wrong card ****' });
});

test('figures of the batch itself stay readable', () => {
  const own = { by: BY_ITSELF, reason: '1000000 usd are missing; resume once it is covered' };
  expect(shownInterruption(own)).toEqual(own);
});
