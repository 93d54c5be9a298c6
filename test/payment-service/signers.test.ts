import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadSigner, signatureOf } from '../../src/payment-service/signers.js';
import { newFolder } from '../support/batch-files.js';

async function moduleFile(text: string): Promise<string> {
  const file = join(newFolder(), 'signer.mjs');
  await writeFile(file, text);
  return file;
}

test('hmac-sha256 and hmac-sha512 are lowercase hex over the bytes (vectors of RFC 4231, case 2)', async () => {
  const body = Buffer.from('what do ya want for nothing?');
  const sha256 = await loadSigner('hmac-sha256');
  const sha512 = await loadSigner('hmac-sha512');
  expect(await sha256(body, 'Jefe')).toBe('5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843');
  expect(await sha512(body, 'Jefe')).toBe(
    '164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737',
  );
});

test('a module path loads its default export', async () => {
  const file = await moduleFile("export default (body, secret) => secret + '-' + body.length;");
  const sign = await loadSigner(file);
  expect(await sign(Buffer.from('abc'), 's')).toBe('s-3');
});

test.each(['', 'hmac-sha1', 'HMAC-SHA256', '__proto__', 'constructor'])('the name %j is refused', async (name) => {
  await expect(loadSigner(name)).rejects.toThrow('unknown signer: use hmac-sha256, hmac-sha512');
});

test('a missing module, a broken one and one without a function are refused', async () => {
  await expect(loadSigner('./no-such-signer.mjs')).rejects.toThrow(/cannot be loaded/);
  await expect(loadSigner(await moduleFile('export const sign = 1;'))).rejects.toThrow('no function as default export');
  await expect(loadSigner(await moduleFile('throw new Error("s3cret")'))).rejects.toThrow(
    /^signer module cannot be loaded \(Error\)$/,
  );
});

test('a signer that fails is not quoted', async () => {
  const failing = () => Promise.reject(new Error('bad key s3cret'));
  await expect(signatureOf(failing, Buffer.alloc(0), 's3cret')).rejects.toThrow(
    /^request was not sent: signer failed$/,
  );
});

test.each(['', 'a b', 'a\r\nX-Injected: 1', 'ä'])('the signature %j is never sent', async (signature) => {
  await expect(signatureOf(() => signature, Buffer.alloc(0), 's')).rejects.toMatchObject({ code: 'not_sent' });
});
