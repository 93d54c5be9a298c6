import { describe, expect, test } from 'vitest';
import { loadWorkerConfig } from '../../src/config.js';
import { differingVariables, publishedBy, publishedFor, publishingIdentity } from '../../src/temporal/published.js';
import { WORKER_ENV } from '../config/config.fixture.js';
import { testApprovers } from '../support/approvers.js';

const published = (env: Record<string, string> = {}) =>
  publishedFor(loadWorkerConfig({ ...WORKER_ENV, ...env }), 'default');

describe('what a worker publishes about an account', () => {
  test('is read back from its identity as it is', () => {
    const own = published({
      PAYMENT_ORDER_CAPS: '{"usd": "2000", "btc": "0.5"}',
      PAYMENT_NOT_EXECUTED_STATUSES: '429',
      TEMPORAL_RESTORED_AT: '2026-01-31T09:30:00Z',
    });
    expect(own).toEqual({
      account: expect.stringMatching(/^[\w-]{8}$/),
      windows: [600_000, 15_000, 600_000],
      caps: { btc: '0.5', usd: '2000' },
      notExecuted: [429],
      restoredAtMs: Date.UTC(2026, 0, 31, 9, 30),
    });
    const read = publishedBy(publishingIdentity('host-ab12', own));
    expect(read).toEqual(own);
    expect(differingVariables(own, [read ?? published()])).toEqual([]);
  });

  test('tells accounts apart without URL and key, and a rotation is no difference of settings', () => {
    const own = published();
    const other = published({ PAYMENT_API_KEY: 'another-key-for-tests' });
    expect(other.account).not.toBe(own.account);
    expect(differingVariables(own, [other])).toEqual([]);
    expect(JSON.stringify(own)).not.toContain('http');
  });

  test('is the same for caps in another order', () => {
    const one = published({ PAYMENT_ORDER_CAPS: '{"usd": "2000", "btc": "0.5"}' });
    const other = published({ PAYMENT_ORDER_CAPS: '{"btc": "0.5", "usd": "2000"}' });
    expect(differingVariables(one, [other])).toEqual([]);
  });

  test('fits an identity with any caps that a worker takes', () => {
    const all = Object.fromEntries(Array.from({ length: 28 }, (_, n) => [`c${n}`, '1000']));
    const own = published({ PAYMENT_ORDER_CAPS: JSON.stringify(all) });
    expect(publishingIdentity('h'.repeat(253), own).length).toBeLessThan(1_000);
  });

  test('names no person and no key of APPROVERS_FILE, and tells two such files apart', () => {
    const config = loadWorkerConfig(WORKER_ENV);
    const approvers = testApprovers();
    const all = publishedFor({ ...config, approvers }, 'default');
    expect(all.approvers).toMatch(/^[\w-]{8}$/);
    const [[keyId, approver] = []] = approvers.get('default') ?? [];
    const fewer = new Map(keyId && approver ? [[keyId, approver]] : []);
    const one = publishedFor({ ...config, approvers: new Map([['default', fewer]]) }, 'default');
    expect(differingVariables(all, [one])).toEqual(['APPROVERS_FILE']);
  });

  test.for<[string, object]>([
    ['{"windows":[1,2,-3],"approvers":"a"}', { windows: [0, 0, 0], approvers: 'a' }],
    ['{"windows":{"atOnce":1},"caps":{"usd":"1"}}', { windows: [0, 0, 0], caps: { usd: '1' } }],
    ['{"windows":[1,2,3],"caps":{"usd":"-1"}}', { windows: [1, 2, 3] }],
    [`{"windows":[1,2,3],"restoredAtMs":${Date.now() + 3_600_000},"audit":true}`, { windows: [1, 2, 3], audit: true }],
  ])('a field of %j that cannot be read takes no other one with it', ([text, expected]) => {
    expect(publishedBy(`host-ab12 ${text}`)).toEqual(expected);
  });

  test.for(['host-ab12', 'host-ab12 null', ''])('is nothing for the identity %j', (identity) => {
    expect(publishedBy(identity)).toBeUndefined();
  });
});
