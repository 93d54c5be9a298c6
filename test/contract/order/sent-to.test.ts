import { describe, expect, test } from 'vitest';
import { elsewhere, type SentTo } from '../../../src/contract/order/sent-to.js';
import { sentToSchema } from '../../../src/validation/order-input.js';

const [ONE, TWO] = ['https://pay.example/one', 'https://pay.example/two'];
const [KEY, NEXT] = ['aaaaaaaaaaaaaaaa', 'bbbbbbbbbbbbbbbb'];
const PINNED: SentTo = { account: `${ONE}#${KEY}` };
const WITNESS = { order_id: 'w-0', order_uuid: 'u-0' };

const judge = (pin: SentTo, id: string, predecessors?: string[]) =>
  elsewhere(pin, { name: 'eu', id, ...(predecessors && { predecessors }) });

describe('is the same account', () => {
  test.for<[string, SentTo, string, string[] | undefined]>([
    ['the same URL and key', PINNED, `${ONE}#${KEY}`, undefined],
    ['with a witness', { ...PINNED, witness: WITNESS }, `${ONE}#${KEY}`, undefined],
    ['a key that names it as its predecessor', PINNED, `${ONE}#${NEXT}`, [KEY]],
    ['a key that names several predecessors', PINNED, `${ONE}#${NEXT}`, ['cccccccccccccccc', KEY]],
  ])('%s', ([, pin, id, predecessors]) => {
    expect(judge(pin, id, predecessors)).toBeUndefined();
  });
});

describe('is asked about', () => {
  test.for<[string, SentTo, string, string[] | undefined, RegExp]>([
    [
      'another key',
      PINNED,
      `${ONE}#${NEXT}`,
      undefined,
      /back, list a{16} as a predecessor if the key was rotated\. After an approval/,
    ],
    ['another key with other predecessors', PINNED, `${ONE}#${NEXT}`, ['cccccccccccccccc'], /as a predecessor/],
    ['another URL', PINNED, `${TWO}#${KEY}`, undefined, /uses https:\S+\/two#a{16}: .* back\. After an approval/],
    ['another URL and key', PINNED, `${TWO}#${NEXT}`, [KEY], /back\. After an approval only .* is asked/],
  ])('%s', ([, pin, id, predecessors, why]) => {
    const found = judge(pin, id, predecessors);
    expect(found).toMatchObject({ here: { account: id }, why: expect.stringMatching(why) });
    expect(found?.why).toMatch(/^the order was sent to https:\S+one#a{16}, but this worker uses /);
    expect(found?.why).toMatch(/if it exists at the other one, it is paid twice$/);
  });
});

test('what a run hands on is an account with its witness and nothing else', () => {
  expect(sentToSchema.safeParse({ ...PINNED, witness: WITNESS }).success).toBe(true);
  for (const other of [{}, { ...PINNED, more: 1 }, { account: 1 }])
    expect(sentToSchema.safeParse(other).success).toBe(false);
});
