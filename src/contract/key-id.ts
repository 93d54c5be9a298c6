import { createHash, type KeyObject } from 'node:crypto';

/** Names a public key: the first 16 hex digits of the SHA-256 of its DER (SPKI) form. */
export const keyIdOf = (publicKey: KeyObject): string =>
  createHash('sha256')
    .update(publicKey.export({ format: 'der', type: 'spki' }))
    .digest('hex')
    .slice(0, 16);
