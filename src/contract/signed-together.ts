import { createHash, type KeyObject } from 'node:crypto';
import type { Decision } from './order/messages.js';
import { type SignedRun, signedAs } from './signature.js';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Returns the hash of one choice's text for the list that a joint signature covers. */
export const textName = sha256;

/** Returns the hash of such hashes, in any order. */
export const listName = (texts: readonly string[]): string => sha256([...texts].sort().join('\n'));

/**
 * Returns the text that a person signs for many orders. Each order finds the name of its own text
 * in the list, so that every field of its decision is signed.
 */
export function textForAll(
  { namespace, account }: Pick<SignedRun, 'namespace' | 'account'>,
  { action, by, reason }: Pick<Decision, 'action' | 'by' | 'reason'>,
  texts: readonly string[],
): string {
  const choice = { action, by, reason, orders: texts.length, texts: listName(texts) };
  return signedAs({ update: 'decide-all', run: { namespace, account }, choice });
}

/** Names a public key: the first 16 hex digits of the SHA-256 of its DER (SPKI) form. */
export const keyIdOf = (publicKey: KeyObject): string =>
  createHash('sha256')
    .update(publicKey.export({ format: 'der', type: 'spki' }))
    .digest('hex')
    .slice(0, 16);
