import { expect, onTestFinished, test } from 'vitest';
import { type CallbackTarget, callbackUrl } from '../../../src/contract/callback-url.js';
import { call } from '../../sandbox/sandbox.fixture.js';
import { type Lab, openLab } from '../../support/lab.js';
import { type Address, newAddress, receive } from '../../workflows/receipts.fixture.js';
import { followers } from './lost-receipts.fixture.js';

async function open(): Promise<Lab> {
  const lab = await openLab({ quiet: true });
  onTestFinished(() => lab.close());
  return lab;
}

/** An address of another client of the account, whose callbacks reach nobody. */
async function foreignAddress(lab: Lab, callback_url?: string): Promise<Address> {
  const { body } = await call(lab.sandbox, 'deposit_address/create', {
    currency: 'usdt',
    network: 'tron',
    callback_url,
  });
  return body.data as unknown as Address;
}

/** A URL of our form under another host, with this token. */
const urlWith = (ref: string, token: string) => `http://127.0.0.1:1/callbacks/default/a.${ref}.${token}`;

function macOf({ config }: Lab, target: CallbackTarget, key = config.callback?.tokenKeys[0] ?? ''): string {
  return callbackUrl('', key, target).slice(-43);
}

test.for([false, true])(
  'receipts of another client are foreign, whatever their callback URLs claim (recover: %s)',
  async (recover) => {
    const lab = await open();
    const ours = await newAddress(lab);
    lab.sandbox.set({ callbacks: { lostAddresses: [ours.uuid] } });
    const { ref } = ours;
    const target = { kind: 'address', account: 'default', ref } as const;
    const urls = [
      undefined,
      'http://127.0.0.1:1/paid',
      urlWith(ref, 'A'.repeat(43)),
      urlWith('unknown', 'A'.repeat(43)),
      urlWith(ref, '****'),
      urlWith(ref, macOf(lab, { ...target, account: 'other' })),
      urlWith(ref, macOf(lab, { kind: 'order', account: 'default', orderId: ref })),
      urlWith(ref, macOf(lab, target, 'a-key-that-is-out-of-force')),
    ];
    const theirs = [];
    for (const url of urls) theirs.push(receive(lab, await foreignAddress(lab, url), 'after_ms=600000'));
    const receipt = receive(lab, ours);

    const result = await lab.orders.reconcile({ recover });
    expect(result.classes).toMatchObject({ foreign: urls.length, receiptFollowed: 1, recovered: 0 });
    expect(result.disagreements.map(({ order_uuid }) => order_uuid).toSorted()).toEqual(
      theirs.map(({ orderUuid }) => orderUuid).toSorted(),
    );
    expect(await lab.orders.received(receipt.orderUuid).result()).toMatchObject({ outcome: 'completed' });
    expect(await followers(lab)).toBe(1);

    const again = await lab.orders.reconcile({ recover });
    expect(again.classes).toMatchObject({ foreign: urls.length, equal: 1, receiptFollowed: 0, recovered: 0 });
  },
);

test('a follower that somebody starts for a receipt of another client finds nothing on our address', async () => {
  const lab = await open();
  const { ref } = await newAddress(lab);
  const { orderUuid } = receive(lab, await foreignAddress(lab, urlWith(ref, 'A'.repeat(43))));
  const handle = await lab.temporal.client.workflow.start('receivedDeposit', {
    workflowId: `received:default:${orderUuid}`,
    taskQueue: 'payment-orders',
    args: [{ account: 'default', ref, order_uuid: orderUuid }],
  });
  await expect(handle.result()).rejects.toMatchObject({
    cause: { message: expect.stringContaining('CALLBACK_TOKEN_KEY') },
  });
});

test('a receipt on an address that a run here created is ours, although its key is out of force', async () => {
  const lab = await open();
  const address = await newAddress(lab);
  lab.sandbox.set({ callbacks: { lostAddresses: [address.uuid] } });
  const receipt = receive(lab, address);
  await lab.stopWorkers();
  const baseUrl = lab.config.callback?.baseUrl ?? '';
  await lab.startWorkers({ callback: { baseUrl, tokenKeys: ['another-key-for-tests-only'] } });

  expect((await lab.orders.reconcile()).classes).toMatchObject({ receiptFollowed: 1, foreign: 0 });
  expect(await lab.orders.received(receipt.orderUuid).result()).toMatchObject({ outcome: 'completed' });
});
