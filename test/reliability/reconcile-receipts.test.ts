import { expect, test } from 'vitest';
import { disagreementOf } from '../../src/contract/reconcile/reconcile.js';
import { creditedByService, creditedByUs, followers, loseHalf } from '../activities/reconcile/lost-receipts.fixture.js';
import { useLab } from '../support/lab.js';

const lab = useLab();

test('500 receipts on 20 addresses, half of them untold: after one reconciliation all are followed, none twice', {
  timeout: 600_000,
}, async () => {
  const { orderUuids, lost } = await loseHalf(lab, { addresses: 20, receipts: 500 });
  expect(lost).toBe(250);

  const result = await lab.orders.reconcile();
  expect(result.classes).toMatchObject({ receiptFollowed: lost, equal: 500 - lost, foreign: 0 });
  expect(disagreementOf(result)).toBeUndefined();

  expect(await creditedByUs(lab, orderUuids)).toEqual(creditedByService(lab));
  expect(await followers(lab)).toBe(500);
});
