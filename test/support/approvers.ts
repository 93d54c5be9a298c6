import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Approvers, readApprovers } from '../../src/config/approvers.js';
import { Problems } from '../../src/config/env.js';

/** A private key of its own. */
export const newKey = (): KeyObject => generateKeyPairSync('ed25519').privateKey;

/** A public key as APPROVERS_FILE has it. */
export const publicLine = (privateKey: KeyObject): string =>
  createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).toString('base64');

/** Ann has two keys; Cid may only decide, Dan only approve; Zed is in no file. */
export const KEYS = {
  ann: newKey(),
  annAgain: newKey(),
  bob: newKey(),
  cid: newKey(),
  dan: newKey(),
  zed: newKey(),
};

/** APPROVERS_FILE of the account `default`. */
export const APPROVERS_FILE = {
  persons: {
    'Ann Smith': [publicLine(KEYS.ann), publicLine(KEYS.annAgain)],
    'Bob Jones': [publicLine(KEYS.bob)],
    'Cid Low': [publicLine(KEYS.cid)],
    'Dan High': [publicLine(KEYS.dan)],
  },
  accounts: {
    default: { decide: ['Ann Smith', 'Bob Jones', 'Cid Low'], approve: ['Ann Smith', 'Bob Jones', 'Dan High'] },
  },
};

/** Writes a file that only its owner may write, runs `use` with its path, and removes it. */
export function withFile<T>(content: unknown, use: (path: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'approvers-'));
  try {
    const path = join(folder, 'approvers.json');
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content), { mode: 0o600 });
    return use(path);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What a worker makes of APPROVERS_FILE. */
export function testApprovers(): ReadonlyMap<string, Approvers> {
  const problems = new Problems({});
  const approvers = withFile(APPROVERS_FILE, (path) => readApprovers(path, ['default'], problems));
  problems.throwIfAny();
  if (!approvers) throw new Error('no approvers');
  return approvers;
}
