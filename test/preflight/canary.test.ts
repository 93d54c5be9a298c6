import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/index.js';
import { Secret } from '../../src/config.js';
import type { Canary } from '../../src/contract/order/canary.js';
import { findingsOf } from '../../src/preflight/checks.js';
import { openService } from '../../src/preflight/open-service.js';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.close());

const CANARY: Canary = { currency: 'usd', network: 'card', amount: '20', countsFor: [] };

/** What `doctor` finds about a canary: levels and texts. */
async function found(canary?: Canary): Promise<string[]> {
  const account = {
    ...{ name: 'eu', baseUrl: sandbox.url, signer: 'hmac-sha256' },
    ...{ apiKey: new Secret(sandbox.apiKey), apiSecret: new Secret(sandbox.apiSecret) },
    ...(canary && { canary }),
  };
  const accounts = new Map([['eu', { name: 'eu', id: 'one', service: await openService(account) }]]);
  const config = { accounts: new Map([['eu', account]]) };
  const findings = await findingsOf({ config: config as never, accounts }, 'W');
  return findings.flatMap(({ check, level, text }) => (check === 'canary' ? [`${level}: ${text}`] : []));
}

test('an account without a canary, or with one that counts for deposits alone, is in order', async () => {
  expect(await found()).toEqual([]);
  expect(await found(CANARY)).toEqual([]);
});

test('one that counts for payouts is named, with what it cannot prove', async () => {
  expect(await found({ ...CANARY, countsFor: ['withdraw', 'exchange'] })).toEqual([
    expect.stringMatching(/^note: account eu: deposits count .* for withdraw, exchange\. .* pays twice/),
  ]);
});

test.each([
  ['an amount below the least', { amount: '0.01' }, 'canary.amount'],
  ['a pair that is not offered', { network: 'nowhere' }, 'canary.network'],
])('one that the service would refuse is named: %s', async (_, change, field) => {
  const [text] = await found({ ...CANARY, ...change });
  expect(text).toMatch(new RegExp(`^warning: account eu: ${field}: .*correct it$`));
});
