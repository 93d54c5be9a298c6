import { describe, expect, test } from 'vitest';
import { BatchWarnings, warnOfRepeats } from '../../../src/activities/batch/plan/warnings.js';
import type { WithdrawRequest } from '../../../src/contract/order/request.js';

const PAYOUT: WithdrawRequest = { order_id: 'a', currency: 'usd', network: 'tron', wallet: 'T1', amount: '10' };

/** Whether the second of two payouts is warned of, which differs in these fields. */
function isWarnedOf(changes: object): boolean {
  const warnings = new BatchWarnings();
  warnOfRepeats(warnings, 2, PAYOUT);
  warnOfRepeats(warnings, 3, { ...PAYOUT, order_id: 'b', ...changes });
  return warnings.count > 0;
}

describe('the same amount to the same wallet', () => {
  test.each([
    ['is warned of', {}, true],
    ['is warned of, however the amount is written', { amount: '10.00' }, true],
    ['is warned of, whatever it is for', { description: 'again' }, true],
    ['is warned of where the memo is empty', { wallet_memo: '' }, true],
    ['is warned of where details other than cards differ', { wallet_details: { bank_code: '1' } }, true],
    ['is another payout with another memo', { wallet_memo: 'm' }, false],
    ['is another payout on another network', { network: 'eth' }, false],
  ])('%s', (_, changes, warned) => {
    expect(isWarnedOf(changes)).toBe(warned);
  });
});
