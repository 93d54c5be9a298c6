import { expect, test } from 'vitest';
import { readAddressList } from '../../../src/activities/address/address-list.js';

const mac = 'A'.repeat(43);
test.for([
  `https://x.example/callbacks/default/a.ref1.${mac}`,
  `https://x.example/callbacks/default/a.ref1.${mac}/`,
  `https://x.example/callbacks/default/a.ref1.${mac}?v=1`,
  'https://x.example/callbacks/default/a.ref1.****',
])('an address is found by its callback URL as the service shows it: %s', async (url) => {
  async function* pages() {
    yield { items: [{ uuid: 'u', callback_url: url, created_at: '2026' }], malformed: [], total: 1 } as never;
  }
  const { byRef } = await readAddressList({ account: 'default' }, pages());
  expect(byRef.has('ref1')).toBe(true);
});
