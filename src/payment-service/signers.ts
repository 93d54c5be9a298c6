import { createHmac } from 'node:crypto';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { NotSentError } from './errors.js';

/** Computes the `Signature` header from the bytes of the body and the account's secret. */
export type Signer = (body: Uint8Array, secret: string) => string | Promise<string>;

const hmac =
  (algorithm: 'sha256' | 'sha512'): Signer =>
  (body, secret) =>
    createHmac(algorithm, secret).update(body).digest('hex');

const BUILT_IN = new Map<string, Signer>([
  ['hmac-sha256', hmac('sha256')],
  ['hmac-sha512', hmac('sha512')],
]);

/**
 * Returns a signer: `hmac-sha256`, `hmac-sha512`, or the default export of the module at that path.
 * Errors do not contain the path.
 */
export async function loadSigner(name: string): Promise<Signer> {
  const builtIn = BUILT_IN.get(name);
  if (builtIn) return builtIn;
  if (!/[./\\]/.test(name)) throw new Error('unknown signer: use hmac-sha256, hmac-sha512 or the path of a module');
  const url = name.startsWith('file:') ? name : pathToFileURL(resolve(name)).href;
  const module: { default?: unknown } = await import(url).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`signer module cannot be loaded (${error.code ?? error.name})`);
  });
  if (typeof module.default !== 'function') throw new Error('signer module has no function as default export');
  return module.default as Signer;
}

/**
 * Signs a body. Throws NotSentError, without details, if the signer fails or its result is no
 * header value.
 */
export async function signatureOf(sign: Signer, body: Uint8Array, secret: string): Promise<string> {
  let signature: unknown;
  try {
    signature = await sign(body, secret);
  } catch {
    throw new NotSentError('signer failed');
  }
  if (!isHeaderValue(signature)) throw new NotSentError('signer returned no usable signature');
  return signature;
}

/** Returns true for visible ASCII without blanks, not empty. */
export const isHeaderValue = (value: unknown): value is string =>
  typeof value === 'string' && /^[\x21-\x7e]+$/.test(value);
