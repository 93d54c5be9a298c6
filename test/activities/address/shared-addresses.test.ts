import { expect, test } from 'vitest';
import { SharedAddresses } from '../../../src/activities/address/address-list.js';
import type { DepositAddress } from '../../../src/contract/address/address.js';
import { callbackUrl } from '../../../src/contract/callback-url.js';

const address = (ref: string, name: string): DepositAddress => ({
  uuid: name,
  client_id: null,
  currency: 'usdt',
  network: 'tron',
  currency_to: null,
  address_title: '',
  address: name,
  memo: null,
  callback_url: callbackUrl('https://x.example', 'a-key', { kind: 'address', account: 'eu', ref }),
  created_at: '',
  min_amount: '1',
  max_amount: '2',
  total_received_amount: null,
  total_received_deposits: null,
});

/** Addresses listed one a page; counts readings of the list. `nowMs` is the list's clock. */
function listing(items: DepositAddress[]) {
  const list = { items, readings: 0, nowMs: 1_000, malformed: 0, open: Promise.resolve() };
  const shared = new SharedAddresses(
    {
      account: 'eu',
      listAll: async function* () {
        list.readings += 1;
        await list.open;
        const malformed = Array.from({ length: list.malformed }, (_, index) => ({ index, reason: 'broken' }));
        for (const item of list.items) yield { items: [item], malformed, total: 1 };
      },
    },
    () => list.nowMs,
  );
  const namesOf = async (ref: string, sinceMs: number, wanted: string) =>
    (await shared.of(ref, sinceMs, (one) => one.address.address === wanted)).map((one) => one.address.address);
  return { list, namesOf };
}

test('the list is read once for any number of known addresses', async () => {
  const { list, namesOf } = listing([address('a', 'A1'), address('b', 'B1'), address('a', 'A2')]);
  expect(await namesOf('a', 900, 'A2')).toEqual(['A1', 'A2']);
  expect(await namesOf('b', 5_000, 'B1')).toEqual(['B1']);
  expect(list.readings).toBe(1);
});

test('callers that ask at the same time share one reading', async () => {
  const { list, namesOf } = listing([address('a', 'A1')]);
  await Promise.all(Array.from({ length: 50 }, () => namesOf('a', 900, 'A1')));
  expect(list.readings).toBe(1);
});

test('that an address is not there is said only after a reading that began after the question', async () => {
  const { list, namesOf } = listing([address('a', 'A1')]);
  await namesOf('a', 900, 'A1');
  list.items = [address('a', 'A1'), address('a', 'A2')];
  expect(await namesOf('a', 900, 'A2')).toEqual(['A1']);
  list.nowMs = 2_000;
  expect(await namesOf('a', 1_500, 'A2')).toEqual(['A1', 'A2']);
  expect(list.readings).toBe(2);
});

test('a reading that was under way when the question came is not enough', async () => {
  const { list, namesOf } = listing([]);
  let open = () => {};
  list.open = new Promise((resolve) => {
    open = resolve;
  });
  const early = namesOf('a', 900, 'A1');
  list.nowMs = 2_000;
  const late = namesOf('a', 1_500, 'A1');
  open();
  expect(await early).toEqual([]);
  expect(list.readings).toBeLessThanOrEqual(2);
  expect(await late).toEqual([]);
  expect(list.readings).toBe(2);
});

test('an item that cannot be read hides nothing that is known and proves no absence', async () => {
  const { list, namesOf } = listing([address('a', 'A1')]);
  list.malformed = 1;
  await expect(namesOf('b', 900, 'B1')).rejects.toThrow(/cannot be read/);
  expect(await namesOf('a', 900, 'A1')).toEqual(['A1']);
});
