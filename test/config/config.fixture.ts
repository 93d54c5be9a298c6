import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Env } from '../../src/config/env.js';
import { ConfigError } from '../../src/config.js';
import { newFolder } from '../support/batch-files.js';

/** A worker's smallest complete environment. */
export const WORKER_ENV = {
  PAYMENT_BASE_URL: 'https://pay.example/api',
  PAYMENT_API_KEY: 'the-api-key',
  PAYMENT_API_SECRET: 'the-api-secret',
  PAYMENT_SIGNER: 'hmac-sha256',
} as const;

/** A key that CALLBACK_TOKEN_KEY takes. */
export const TOKEN_KEY = 'token-key-of-enough-characters';

/** Keys that PAYLOAD_ENCRYPTION_KEYS takes. */
export const ENCRYPTION_KEY = createHash('sha256').update('a').digest('base64');
export const OTHER_ENCRYPTION_KEY = createHash('sha256').update('b').digest('base64');

/** Writes a file that only its owner may read and that is gone after the test; returns its path. */
export function tempFile(content: string | Uint8Array): string {
  const path = join(newFolder(), 'file');
  writeFileSync(path, content, { mode: 0o600 });
  return path;
}

/** The mistakes that `load` finds in an environment; empty when it finds none. */
export function problemsOf(load: (env: Env) => unknown, env: Env): readonly string[] {
  try {
    load(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}
