import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { VARIABLES } from '../../src/config/variables.js';
import { loadWorkerConfig } from '../../src/config.js';
import { settingsText } from '../../src/worker/settings.js';
import { ENCRYPTION_KEY, OTHER_ENCRYPTION_KEY, TOKEN_KEY, WORKER_ENV } from '../config/config.fixture.js';

/** Settings that are secrets, or that other parts of the line `ready` tell. */
const ELSEWHERE =
  /^(PAYMENT_API_(?!KEY_PREDECESSORS)|CALLBACK_TOKEN_KEY|PAYMENT_CLIENT_KEY_FILE|PAYMENT_ACCOUNTS_FILE|APPROVERS_FILE|PAYLOAD_ENCRYPTION$|TEMPORAL_(?!RESTORED_AT)|METRICS_ADDRESS|OTEL_|ALLOW_)/;

const settingsOf = (env: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    settingsText(loadWorkerConfig(env))
      .split(' ')
      .map((each) => each.split(/=(.*)/).slice(0, 2)),
  );

test('every setting of a worker that is no secret stands in its line, with its default', () => {
  const shown = settingsOf(WORKER_ENV);
  const names = Object.entries(VARIABLES).flatMap(([name, { by }]) => (by.includes('W') ? [name] : []));
  expect(Object.keys(shown).sort()).toEqual(names.filter((name) => !ELSEWHERE.test(name)).sort());
  expect(shown).toMatchObject({
    PAYMENT_BASE_URL: 'default:https://pay.example/api',
    PAYMENT_REQUESTS_PER_SECOND: 'default:none',
    PAYMENT_ORDER_CAPS: 'none',
    ORDER_POLL_INITIAL: '5s',
    ORDER_SETTLE_WINDOW: '10m/deposits:15s',
    ORDER_CACHE_SIZE: '600',
    ORDER_LOOKUPS_AT_ONCE: '500',
    ORDER_QUEUE_POLLERS: '20',
    CALLBACK_BASE_URL: 'none',
    PAYLOAD_ENCRYPTION_KEYS: 'none',
  });
});

test('what was set is shown as it counts, and no secret is among it', () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'settings with blanks-')));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const secrets = [
    'canary-api-key',
    'canary-api-secret',
    'canary-proxy-password',
    TOKEN_KEY,
    ENCRYPTION_KEY,
    OTHER_ENCRYPTION_KEY,
  ];
  const text = settingsText(
    loadWorkerConfig({
      ...WORKER_ENV,
      PAYMENT_API_KEY: 'canary-api-key',
      PAYMENT_API_SECRET: 'canary-api-secret',
      PAYMENT_PROXY_URL: 'http://proxy-user:canary-proxy-password@proxy.example:3128',
      PAYMENT_ORDER_CAPS: '{"usd": "2000", "eur": "1500.5"}',
      PAYMENT_REQUESTS_PER_SECOND: '40',
      ORDER_SETTLE_WINDOW: '90m',
      CALLBACK_BASE_URL: 'https://hooks.example',
      CALLBACK_TOKEN_KEY: TOKEN_KEY,
      BATCH_DIR: folder,
      PAYLOAD_ENCRYPTION_KEYS: `k2:${ENCRYPTION_KEY},k1:${OTHER_ENCRYPTION_KEY}`,
    }),
  );
  for (const secret of secrets) expect(text).not.toContain(secret);
  for (const shown of [
    'PAYMENT_PROXY_URL=proxy.example:3128',
    'PAYMENT_ORDER_CAPS=usd:2000,eur:1500.5',
    'PAYMENT_REQUESTS_PER_SECOND=default:40',
    'ORDER_SETTLE_WINDOW=90m',
    'CALLBACK_BASE_URL=https://hooks.example',
    `BATCH_DIR=${folder.replaceAll(' ', '%20')}`,
    'PAYLOAD_ENCRYPTION_KEYS=k2,k1',
  ])
    expect(text.split(' ')).toContain(shown);
});
