import { describe, expect, test, vi } from 'vitest';
import { UnknownIdError } from '../../../src/client/errors.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useLab } from '../../support/lab.js';
import { runStarterWith } from '../../support/run-starter.js';
import { keyOf } from '../../temporal/stored-bytes.fixture.js';

const CARD = '4111111111111111';
const IBAN = 'de89370400440532013000';

const lab = useLab({ encryptionKeys: [keyOf('ours')], callbacks: false });

const refund = { currency: 'usdt', network: 'tron' };

/** [what, workflow type, workflow id, input]. */
const STARTS: [string, string, string, object][] = [
  ['order id', 'withdraw', `order:default:${CARD}`, orderInput('withdraw', CARD)],
  [
    'order id in groups',
    'withdraw',
    'order:default:4111-1111-1111-1111',
    orderInput('withdraw', '4111-1111-1111-1111'),
  ],
  ['order id and a row', 'withdraw', `order:default:${CARD}-1`, orderInput('withdraw', `${CARD}-1`)],
  ...['4111.1111.1111.1111', '4111_1111_1111_1111', '4111-1111-1111-1111-2', IBAN].map(
    (batchId, index): [string, string, string, object] => [
      `batch id of an order, ${batchId}`,
      'withdraw',
      `order:default:in-batch-${index}`,
      orderInput('withdraw', `in-batch-${index}`, { batchId }),
    ],
  ),
  ['account of an order', 'withdraw', `order:${CARD}:a-1`, orderInput('withdraw', 'a-1', { account: CARD })],
  ['account of an order, an IBAN', 'withdraw', `order:${IBAN}:a-2`, orderInput('withdraw', 'a-2', { account: IBAN })],
  ['order id, under another workflow id', 'withdraw', 'order:default:a-3', orderInput('withdraw', CARD)],
  ['reference of an address', 'depositAddress', `address:default:${CARD}`, { ref: CARD, address: refund }],
  ['account of an address', 'depositAddress', `address:${CARD}:r-1`, { account: CARD, ref: 'r-1', address: refund }],
  ['batch id', 'bulkWithdraw', `bulk:default:${CARD}`, { batchId: CARD, rows: [orderInput('withdraw', 'a-4').order] }],
  [
    'account of a batch',
    'bulkWithdraw',
    `bulk:${CARD}:b-1`,
    { account: CARD, batchId: 'b-1', rows: [orderInput('withdraw', 'a-5').order] },
  ],
  ['account of a reconciliation', 'reconcile', `reconcile:${CARD}`, { account: CARD }],
  ['account of a read', 'serviceRead', `read:${CARD}:1`, { account: CARD, read: 'balances' }],
];

describe('a card number or IBAN, started by hand as', () => {
  test.concurrent.for(STARTS)(
    '%s is refused, and reaches neither a search attribute nor a failure',
    async ([, type, workflowId, input]) => {
      const { workflow } = lab.temporal.client;
      const handle = await workflow.start(type, { taskQueue: 'payment-orders', workflowId, args: [input] });
      const closed = async () => expect((await handle.describe()).status.name).toBe('FAILED');
      await vi.waitFor(closed, { timeout: 60_000, interval: 100 });
      const { searchAttributes } = await handle.describe();
      const error = await handle.result().catch(({ cause }: { cause: unknown }) => cause);
      const told = JSON.stringify([
        searchAttributes,
        (error as Error).message,
        (error as { details?: unknown }).details,
      ]);
      expect(told).toMatch(/must not hold a card number/);
      expect(told).not.toMatch(/4111[-._]?1111|de89/);
    },
  );
});

describe('the library and the command line', () => {
  const text = (error: unknown) => `${String(error)} ${JSON.stringify(error)}`;
  const failing = (call: Promise<unknown>) =>
    call.then(
      () => expect.fail('it was taken'),
      (error: unknown) => error,
    );

  test('refuse it before anything reaches Temporal, and do not repeat it', async () => {
    const { orders } = lab;
    const before = (await lab.temporal.client.workflow.count()).count;
    const errors = await Promise.all([
      failing(orders.start('withdraw', orderInput('withdraw', CARD))),
      failing(orders.start('withdraw', orderInput('withdraw', newOrderId('a'), { account: CARD }))),
      failing(orders.balances(CARD)),
      failing(orders.createAddress({ ref: CARD, address: refund } as never)),
      failing(orders.reconcile({ account: CARD })),
    ]);
    for (const error of errors) {
      expect(error).toMatchObject({ kind: 'invalidInput' });
      expect(text(error)).not.toContain(CARD);
    }
    expect((await lab.temporal.client.workflow.count()).count).toBe(before);
  });

  test('do not repeat one that is asked for', async () => {
    const { orders } = lab;
    const UNKNOWN = '5555555555554444';
    const calls = [
      orders.order(UNKNOWN).state(),
      orders.order('a-9', { account: UNKNOWN }).state(),
      orders.received(UNKNOWN).state(),
    ];
    for (const error of await Promise.all(calls.map(failing))) {
      expect(error).toBeInstanceOf(UnknownIdError);
      expect(text(error)).not.toContain(UNKNOWN);
    }
    for (const typed of [
      ['order', 'show', UNKNOWN],
      ['order', 'show', 'a-1', '--account', `${UNKNOWN}_`],
      ['batch', 'show', UNKNOWN],
    ]) {
      const { stdout, stderr } = await runStarterWith(async () => orders, typed);
      const json = await runStarterWith(async () => orders, [...typed, '--json']);
      expect(stdout + stderr + json.stdout + json.stderr).not.toContain(UNKNOWN);
      expect(stdout + stderr).not.toBe('');
    }
  });
});
