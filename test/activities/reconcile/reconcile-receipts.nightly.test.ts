import { afterAll, beforeAll, expect, test } from 'vitest';
import { disagreementOf } from '../../../src/contract/reconcile/reconcile.js';
import { type Lab, openLab } from '../../support/lab.js';
import { creditedByService, creditedByUs, followers, loseHalf } from './lost-receipts.fixture.js';

let lab: Lab;
beforeAll(async () => {
  lab = await openLab({ quiet: true });
});
afterAll(() => lab?.close());

// 500 receipts on 20 addresses: test/reliability/reconcile-receipts.test.ts.
test('60 receipts on 6 addresses, half of them untold: after one reconciliation all are followed, none twice', async () => {
  const { orderUuids, lost } = await loseHalf(lab, { addresses: 6, receipts: 60 });

  const result = await lab.orders.reconcile();
  expect(result.classes).toMatchObject({ receiptFollowed: lost, equal: 60 - lost, woken: 0, foreign: 0 });
  expect(disagreementOf(result)).toBeUndefined();

  expect(await creditedByUs(lab, orderUuids)).toEqual(creditedByService(lab));
  expect(await followers(lab)).toBe(60);

  const again = await lab.orders.reconcile();
  expect(again.classes).toMatchObject({ receiptFollowed: 0, equal: 60 });
  expect(again.chains.map(({ balance, gaps }) => [balance, gaps])).toEqual([
    ['equal', 0],
    ['equal', 0],
  ]);
});
