import { expect, test } from 'vitest';
import { orderInput } from '../../support/inputs.js';
import { attemptOf, failureOf, openActivities, operations } from '../activity-lab.fixture.js';

test('a create is pinned to its account before it is sent, and asks for no balances', async () => {
  const { sandbox, run, sentTo } = await openActivities();
  const pinned: unknown[] = [];
  const attempt = attemptOf('withdraw', orderInput('withdraw', 'w-1'));
  const answer = await run('createOrder', attempt, { onHeartbeat: (details) => pinned.push(details) });
  expect(answer).toMatchObject({ kind: 'accepted', sentTo });
  expect(pinned).toEqual([{ sentTo }]);
  expect(operations(sandbox)).toEqual(['list', 'create']);
});

test('what follow-ups inherit, no other input may say', async () => {
  const { sandbox, run, sentTo } = await openActivities();
  for (const [field, value] of Object.entries({ sentTo, strictest: { caps: { usd: '1' } }, decidedBy: 'ann' })) {
    const input = { ...orderInput('withdraw', 'w-1'), [field]: value };
    const failure = await failureOf(run('createOrder', attemptOf('withdraw', input)));
    const message = expect.stringContaining(`${field}: belongs to follow-ups`);
    expect(failure).toMatchObject({ type: 'InvalidOrder', message });
  }
  expect(sandbox.requests()).toEqual([]);
});
