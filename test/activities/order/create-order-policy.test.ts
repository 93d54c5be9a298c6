import { describe, expect, test, vi } from 'vitest';
import type { Policy } from '../../../src/config.js';
import { judge, openLedger, type PolicyQuestion, reserveOrder } from '../../../src/contract/policy/ledger.js';
import { Limiter } from '../../../src/payment-service/limiter.js';
import { orderInput } from '../../support/inputs.js';
import { attemptOf, openActivities, operations } from '../activity-lab.fixture.js';

const policy: Policy = { rules: [{ rule: 'sum', per: 'day', currency: 'usd', max: '100', breach: 'park' }] };

/** A create of 60 usd that waits behind others until `leave`, and the sums that allowed it. */
async function waitingCreate() {
  const sums = { ledger: openLedger(), asked: 0 };
  const ask = async (_: string, question: PolicyQuestion) => {
    sums.asked += 1;
    return judge(sums.ledger, question, Date.now());
  };
  const limiter = new Limiter(20);
  const others = Array.from({ length: 40 }, () => limiter.place({ priority: 1 }));
  const policies = new Map([['default', policy]]);
  const lab = await openActivities({}, { limiter, policies, policyDesk: { ask } as never });
  const input = orderInput('withdraw', 'w-1');
  const answer = lab.run('createOrder', attemptOf('withdraw', { ...input, order: { ...input.order, amount: '60' } }));
  await vi.waitFor(() => expect(sums.asked).toBe(1));
  const leave = () => {
    for (const place of others) place.leave();
  };
  return { ...lab, sums, answer, leave };
}

describe('a create that waits for its turn', () => {
  test('is not sent by the answer of sums that were lost and read again meanwhile', async () => {
    const { sandbox, sums, answer, leave } = await waitingCreate();
    sums.ledger = openLedger();
    reserveOrder(sums.ledger, 'another', [['usd', '60']], Date.now());
    await new Promise((resolve) => setTimeout(resolve, 2_100));
    leave();
    expect(await answer).toMatchObject({ kind: 'policy', reason: expect.stringContaining('120 usd') });
    expect(operations(sandbox)).not.toContain('create');
  });

  test('is counted by sums that were read again meanwhile, and sent', async () => {
    const { sums, answer, leave } = await waitingCreate();
    sums.ledger = openLedger();
    await new Promise((resolve) => setTimeout(resolve, 2_100));
    leave();
    expect(await answer).toMatchObject({ kind: 'accepted' });
    expect(Object.keys(sums.ledger.open)).toEqual(['w-1']);
  });

  test('for a moment asks once', async () => {
    const { sums, answer, leave } = await waitingCreate();
    leave();
    expect(await answer).toMatchObject({ kind: 'accepted' });
    expect(sums.asked).toBe(1);
  });
});
