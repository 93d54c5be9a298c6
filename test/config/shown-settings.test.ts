import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { NAMES, settingOf } from '../../src/config/settings.js';
import { loadWorkerConfig } from '../../src/config.js';
import { ENCRYPTION_KEY, OTHER_ENCRYPTION_KEY, TOKEN_KEY, WORKER_ENV } from './config.fixture.js';

const settingsOf = (env: Record<string, string>) => loadWorkerConfig(env).shown ?? {};

test('every setting of a worker that is no secret stands in its line, with its default', () => {
  const shown = settingsOf(WORKER_ENV);
  const isShown = (name: string) =>
    name === 'PAYLOAD_ENCRYPTION_KEYS' || !/^ALLOW_|TOKEN_KEY|API_KEY$|SECRET|PROXY/.test(name);
  const names = NAMES.filter((name) => settingOf(name).by.includes('W') && isShown(name));
  expect(Object.keys(shown).sort()).toEqual([...names].sort());
  expect(shown).toMatchObject({
    PAYMENT_BASE_URL: 'default:https://pay.example/api',
    PAYMENT_REQUESTS_PER_SECOND: 'default:none',
    PAYMENT_ORDER_CAPS: 'none',
    ORDER_POLL_INITIAL: '5s',
    ORDER_SETTLE_WINDOW: '10m',
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
  const shown = settingsOf({
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
  });
  for (const secret of secrets) expect(JSON.stringify(shown)).not.toContain(secret);
  expect(shown).toMatchObject({
    PAYMENT_ORDER_CAPS: '{"usd": "2000", "eur": "1500.5"}',
    PAYMENT_REQUESTS_PER_SECOND: 'default:40',
    ORDER_SETTLE_WINDOW: '90m',
    CALLBACK_BASE_URL: 'https://hooks.example',
    BATCH_DIR: folder,
    PAYLOAD_ENCRYPTION_KEYS: 'k2,k1',
  });
});
