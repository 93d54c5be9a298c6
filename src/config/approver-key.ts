import { createPrivateKey, type KeyObject } from 'node:crypto';
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { ConfigError, type Env } from './env.js';

const NAME = 'APPROVER_KEY_FILE';

/**
 * The private Ed25519 key (PEM) that a person signs with: of the file given, else of APPROVER_KEY_FILE; undefined without
 * either. Throws ConfigError, which shows neither path nor content.
 */
export function loadApproverKey(given: string | undefined, env: Env = process.env): KeyObject | undefined {
  const path = given ?? env[NAME];
  if (path === undefined) return undefined;
  const refuse = (reason: string) => new ConfigError([`${given === undefined ? NAME : '--key'}: ${reason}`]);
  let pem: string;
  let mode: number;
  try {
    const file = openSync(path, 'r');
    try {
      mode = fstatSync(file).mode;
      pem = readFileSync(file, 'utf8');
    } finally {
      closeSync(file);
    }
  } catch {
    throw refuse('cannot be read');
  }
  // Whoever may read it may sign as its owner.
  if (mode & 0o077) throw refuse('may be read by others than its owner: chmod 600');
  const key = privateKey(pem);
  if (key?.asymmetricKeyType !== 'ed25519') throw refuse('must be a private Ed25519 key in PEM, without passphrase');
  return key;
}

function privateKey(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}
