import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import { expect, test, vi } from 'vitest';
import { PaymentOrders } from '../../src/client.js';
import type { Decision } from '../../src/contract/order/messages.js';
import { dataConverter } from '../../src/temporal.js';
import { KEYS, testApprovers } from '../support/approvers.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId, useLab } from '../support/lab.js';
import { parkedFor } from '../workflows/compensation/parked-orders.fixture.js';
import { keyOf } from './stored-bytes.fixture.js';

vi.setConfig({ testTimeout: 400_000 });

const OLD = keyOf('old');
const NEW = keyOf('new');
const ORDERS = 200;

/** Above the cap: a payout of this amount waits for a person. */
const LARGE = '500';

const lab = useLab({
  encryptionKeys: [OLD],
  encryptionRequired: true,
  limits: { caps: new Map([['usd', '100']]), approvers: testApprovers() },
});

/** Orders as a client with these keys sees them. */
function ordersFor(encryptionKeys: (typeof OLD)[]): PaymentOrders {
  const { client, namespace } = lab.temporal;
  const converter = dataConverter({ encryptionKeys, encryptionRequired: true });
  return new PaymentOrders(new Client({ connection: client.connection, namespace, dataConverter: converter }));
}

test('a key that is rotated in the middle of 200 running orders ends all of them, each paid once', async () => {
  const ids = Array.from({ length: ORDERS }, () => newOrderId('rotated'));
  const started = await Promise.all(
    ids.map((id) => lab.orders.start('withdraw', orderInput('withdraw', id, { marker: 'after_ms=8000' }))),
  );
  // First behind the old one everywhere, then in front; the old one stays, as histories with it are open.
  for (const encryptionKeys of [
    [OLD, NEW],
    [NEW, OLD],
  ]) {
    await lab.stopWorkers();
    await lab.startWorkers({ encryptionKeys });
  }
  const open = await Promise.all(started.map((order) => order.isOpen()));
  expect(open.filter(Boolean).length).toBeGreaterThan(ORDERS / 2);

  const reading = ordersFor([NEW, OLD]);
  const ends = await Promise.all(ids.map((id) => reading.order(id).result()));
  expect(ends.filter(({ outcome }) => outcome !== 'completed')).toEqual([]);
  const { executedByOrderId } = lab.sandbox.stats();
  expect(ids.filter((id) => executedByOrderId[id] !== 1)).toEqual([]);
  const written = await Promise.all(
    ids.map(async (id) => {
      const { events } = await lab.temporal.client.workflow.getHandle(`order:default:${id}`).fetchHistory();
      const keys = [
        events?.[0]?.workflowExecutionStartedEventAttributes?.input,
        events?.at(-1)?.workflowExecutionCompletedEventAttributes?.result,
      ];
      return keys.map((payloads) =>
        Buffer.from(payloads?.payloads?.[0]?.metadata?.['encryption-key-id'] ?? []).toString(),
      );
    }),
  );
  expect(written.filter(([first, last]) => first === 'old' && last === 'new').length).toBeGreaterThan(ORDERS / 2);
});

test('keys that are rotated while 60 large payouts are approved: each approval counts once, and each is paid once', async () => {
  await lab.replaceWorkers({ encryptionKeys: [OLD] });
  const ids = Array.from({ length: 60 }, () => newOrderId('approved'));
  const large = (id: string) => {
    const { order, ...options } = orderInput('withdraw', id);
    return { ...options, order: { ...order, amount: LARGE } };
  };
  const started = await Promise.all(ids.map((id) => lab.orders.start('withdraw', large(id))));
  await Promise.all(started.map((order) => parkedFor(order, '', 120_000)));

  const clients = [[OLD], [OLD, NEW], [NEW, OLD]].map(ordersFor);
  const unread: string[] = [];
  /** Approves with one client after another until one of them is answered. */
  const approve = async (id: string, n: number): Promise<void> => {
    for (let attempt = 0; attempt < 30; attempt += 1) {
      const order = clients[(n + attempt) % clients.length]?.order(id);
      try {
        const { revision, attention: { amount, currency } = {} } = (await order?.state()) ?? {};
        const approval = {
          action: 'approve',
          by: 'Ann Smith',
          reason: 'as agreed',
          revision,
          amount,
          currency,
        } as const;
        await order?.decide(approval as Decision, { signer: KEYS.ann });
        return;
      } catch (error) {
        unread.push(String(error));
        const isDecided = (await ordersFor([NEW, OLD]).order(id).state()).attention === undefined;
        if (isDecided) return;
      }
    }
    throw new Error(`${id} was not approved`);
  };
  const approving = ids.map(async (id, n) => {
    await sleep(n * 300);
    await approve(id, n);
  });
  for (const encryptionKeys of [
    [OLD, NEW],
    [NEW, OLD],
  ]) {
    await sleep(3_000);
    await lab.replaceWorkers({ encryptionKeys });
  }
  await Promise.all(approving);
  const ends = await Promise.all(ids.map((id) => ordersFor([NEW, OLD]).order(id).result()));
  expect(ends.filter(({ outcome }) => outcome !== 'completed')).toEqual([]);
  const { executedByOrderId } = lab.sandbox.stats();
  expect(ids.filter((id) => executedByOrderId[id] !== 1)).toEqual([]);
  process.stdout.write(`${unread.length} approvals were refused by a key: ${[...new Set(unread)].join('; ')}\n`);
});
