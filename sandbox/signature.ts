import { createHmac, timingSafeEqual } from 'node:crypto';

/** How requests are signed; the interface leaves it open. */
export type Signer = 'hmac-sha256' | 'hmac-sha512';

/** The signature of a body: lowercase hex HMAC over its exact bytes. */
export const sign = (signer: Signer, body: Uint8Array, secret: string): string =>
  createHmac(signer === 'hmac-sha256' ? 'sha256' : 'sha512', secret)
    .update(body)
    .digest('hex');

/** Compares texts of any length in constant time. */
export function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
