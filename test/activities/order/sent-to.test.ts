import { expect, test } from 'vitest';
import type { CreateAnswer } from '../../../src/contract/order/activities.js';
import { answer, startServer } from '../../payment-service/server.fixture.js';
import { orderInput } from '../../support/inputs.js';
import {
  activitiesFor,
  attemptOf,
  failureOf,
  openActivities,
  operations,
  type RunActivity,
} from '../activity-lab.fixture.js';

const create = (run: RunActivity, orderId: string): Promise<CreateAnswer> =>
  run('createOrder', attemptOf('withdraw', orderInput('withdraw', orderId)));

test('wallets are read once for all first creates of a process, and pinned to each of them', async () => {
  const { sandbox, run, sentTo } = await openActivities({}, { learnsWallets: true });
  const answers = await Promise.all(['w-1', 'w-2', 'w-3'].map((orderId) => create(run, orderId)));
  for (const each of [...answers, await create(run, 'w-4')]) {
    expect(each).toMatchObject({ kind: 'accepted', sentTo: { ...sentTo, wallets: expect.any(Array) } });
    expect(each.sentTo.wallets?.length).toBeGreaterThan(1);
  }
  expect(operations(sandbox).filter((name) => name === 'balances')).toHaveLength(1);
});

test.for(['500', '401', 'html', 'reset'])(
  'balances that answer %s hold up no payment, and are asked again',
  async (fault) => {
    const { sandbox, run, sentTo } = await openActivities(
      { faults: { [`balances.${fault}`]: 1 } },
      { learnsWallets: true },
    );
    const pinned: unknown[] = [];
    const attempt = attemptOf('withdraw', orderInput('withdraw', 'w-1'));
    expect(await run('createOrder', attempt, { onHeartbeat: (details) => pinned.push(details) })).toMatchObject({
      kind: 'accepted',
    });
    expect(pinned).toEqual([{ sentTo }]);
    sandbox.set({ faults: {} });
    expect((await create(run, 'w-2')).sentTo.wallets?.length).toBeGreaterThan(1);
  },
);

test('an account that shows no wallet is pinned to none: every account would have all of them', async () => {
  const { baseUrl } = await startServer((response, { path }) =>
    path.endsWith('/list') ? answer(response, []) : answer(response, path.endsWith('/balances') ? {} : 'no', 200),
  );
  const run = await activitiesFor({ baseUrl }, { learnsWallets: true });
  expect((await create(run, 'w-1')).sentTo).not.toHaveProperty('wallets');
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
