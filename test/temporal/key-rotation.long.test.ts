import { Client } from '@temporalio/client';
import { expect, test, vi } from 'vitest';
import { PaymentOrders } from '../../src/client.js';
import { dataConverter } from '../../src/temporal.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId, useLab } from '../support/lab.js';
import { keyOf } from './stored-bytes.fixture.js';

vi.setConfig({ testTimeout: 400_000 });

const OLD = keyOf('old');
const NEW = keyOf('new');
const ORDERS = 200;

const lab = useLab({ encryptionKeys: [OLD], encryptionRequired: true });

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

  const { connection } = lab.temporal.client;
  const encryption = { encryptionKeys: [NEW, OLD], encryptionRequired: true };
  const { namespace } = lab.temporal;
  const reading = new PaymentOrders(new Client({ connection, namespace, dataConverter: dataConverter(encryption) }));
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
