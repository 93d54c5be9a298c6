import { expect, test } from 'vitest';
import { openActivities } from '../activity-lab.fixture.js';

const asked = (enough?: Record<string, string>) => ({
  ...{ account: 'default', currencies: ['usd'], workflowIds: [] },
  ...(enough && { enough }),
});

test('a balance that moves, and covers no order, is no answer: the question waits longer each time', async () => {
  const { sandbox, run } = await openActivities();
  for (const [attempt, usd] of ['12', '99.99', '3'].entries()) {
    sandbox.set({ balances: { usd } });
    await expect(run('lookAtFunds', asked({ usd: '100' }), { attempt: attempt + 1 })).rejects.toMatchObject({
      type: 'StillOpen',
    });
  }
  sandbox.set({ balances: { usd: '100' } });
  expect(await run('lookAtFunds', asked({ usd: '100' }))).toEqual({ balances: { usd: '100' }, gone: [] });
});

test('a first look is answered with any balance', async () => {
  const { sandbox, run } = await openActivities();
  sandbox.set({ balances: { usd: '3' } });
  expect(await run('lookAtFunds', asked())).toEqual({ balances: { usd: '3' }, gone: [] });
});
