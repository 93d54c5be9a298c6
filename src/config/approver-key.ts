import { createPrivateKey, type KeyObject } from 'node:crypto';
import { ConfigError, type Env } from './env.js';
import { readOpened } from './secret-files.js';

const NAME = 'APPROVER_KEY_FILE';

/** Reads a person's private Ed25519 key (PEM): of the file given, else of APPROVER_KEY_FILE. */
export function loadApproverKey(given: string | undefined, env: Env = process.env): KeyObject | undefined {
  const path = given ?? env[NAME];
  if (path === undefined) return undefined;
  const refuse = (reason: string) => new ConfigError([`${given === undefined ? NAME : '--key'}: ${reason}`]);
  const file = readOpened(path);
  if (!file) throw refuse('cannot be read');
  // Whoever may read it may sign as its owner.
  if (file.stats.mode & 0o077) throw refuse('may be read by others than its owner: chmod 600');
  const key = privateKey(file.text);
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
