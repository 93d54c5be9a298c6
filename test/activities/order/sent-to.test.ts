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

test('where an order goes is for follow-ups to inherit: no other input may say it', async () => {
  const { sandbox, run, sentTo } = await openActivities();
  const input = { ...orderInput('withdraw', 'w-1'), sentTo };
  const failure = await failureOf(run('createOrder', attemptOf('withdraw', input)));
  expect(failure).toMatchObject({
    type: 'InvalidOrder',
    message: expect.stringContaining('sentTo: belongs to follow-ups'),
  });
  expect(sandbox.requests()).toEqual([]);
});
