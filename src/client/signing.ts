import { createPublicKey, KeyObject, sign } from 'node:crypto';
import type { Decision } from '../contract/order/messages.js';
import { type Signature, type SignedRun, type SignedUpdate, textToSign } from '../contract/signature.js';
import { keyIdOf, textForAll, textName } from '../contract/signed-together.js';
import { withoutNulls } from '../contract/without-nulls.js';

/** Private Ed25519 key, or a key's id (`keyIdOf`) and a function that signs (64 bytes). */
export type Signer =
  | KeyObject
  | {
      keyId: string;
      /** Returns the 64 bytes of the signature, or a promise of them. */
      sign: (text: Buffer) => Uint8Array | Promise<Uint8Array>;
    };

/** How to sign an update. Accounts in APPROVERS_FILE refuse unsigned ones. */
export interface SignOptions {
  signer?: Signer;
}

/** Returns a choice, signed together with its run. Throws TypeError for a wrong key. */
export async function signed<T extends object>(
  choice: T,
  signer: Signer,
  { update, run }: { update: SignedUpdate; run: SignedRun },
): Promise<T & { signature: Signature }> {
  const { signature: _, ...given } = withoutNulls<T & { signature?: unknown }>(choice);
  const text = Buffer.from(textToSign(update, run, given));
  return { ...(given as T), signature: await signatureBy(signer, text) };
}

/** One of many decisions, with the run that was shown. */
export interface ForRun {
  run: SignedRun;
  decision: Decision;
}

/** Returns the texts that are signed for many decisions: see `textForAll`. */
export const textsOf = (all: readonly ForRun[]): string[] =>
  all.map(({ run, decision }) => textName(textToSign('decide', run, decision))).sort();

/** Signs the same decision of many orders with one signature. Throws TypeError for a wrong key. */
export async function signTogether(all: readonly ForRun[], signer: Signer): Promise<Signature | undefined> {
  const [first] = all;
  if (!first) return undefined;
  const texts = textsOf(all);
  return { ...(await signatureBy(signer, Buffer.from(textForAll(first.run, first.decision, texts)))), texts };
}

async function signatureBy(signer: Signer, text: Buffer): Promise<Signature> {
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
  if (!(signer instanceof KeyObject)) return { keyId: signer.keyId, value: base64(await signer.sign(text)) };
  if (signer.type !== 'private' || signer.asymmetricKeyType !== 'ed25519') {
    throw new TypeError('signer: must be a private Ed25519 key');
  }
  return { keyId: keyIdOf(createPublicKey(signer)), value: base64(sign(null, text, signer)) };
}
