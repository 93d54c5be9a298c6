import { createHmac, timingSafeEqual } from 'node:crypto';
import type { OutgoingEvent } from './events.js';

/* Signatures of outgoing events, as Standard Webhooks 1.0 defines them. */

const SECRET_FORMAT = /^whsec_([A-Za-z0-9+/]{32,88}={0,2})$/;
const [MIN_KEY_BYTES, MAX_KEY_BYTES] = [24, 64];

/** Returns the key in a secret `whsec_<base64>`; undefined if it is none of 24 to 64 bytes. */
export function eventKeyOf(secret: string): Buffer | undefined {
  const key = Buffer.from(SECRET_FORMAT.exec(secret)?.[1] ?? '', 'base64');
  return key.length >= MIN_KEY_BYTES && key.length <= MAX_KEY_BYTES ? key : undefined;
}

const signatureOf = (key: Buffer, id: string, seconds: string, body: Buffer | Uint8Array): Buffer =>
  createHmac('sha256', key).update(`${id}.${seconds}.`).update(body).digest();

/** Returns the headers of an event, with one signature per key. */
export function eventHeaders(id: string, body: Buffer, keys: readonly Buffer[], nowMs: number): Record<string, string> {
  const seconds = String(Math.floor(nowMs / 1_000));
  const signatures = keys.map((key) => `v1,${signatureOf(key, id, seconds, body).toString('base64')}`);
  return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': signatures.join(' ') };
}

type HeaderValue = string | readonly string[] | undefined;

/** Headers of a request: an object as of Node.js, `Headers`, or a list of names and values. */
export type EventHeaders = Iterable<readonly [string, HeaderValue]> | Readonly<Record<string, HeaderValue>>;

/** Options of `verifyEvent`. */
export interface VerifyEventOptions {
  /** How far the sending time may be from this machine's clock; 300 by default. */
  toleranceSeconds?: number;
}

/** The event is not signed with one of the secrets, or it is too old. Answer with status 400. */
export class EventRefusedError extends Error {
  override readonly name = 'EventRefusedError';
}

/**
 * Returns the event in a request; `body` is the request's own bytes. Throws EventRefusedError if no
 * secret signed it, or if it was sent too long ago.
 */
export function verifyEvent(
  body: string | Uint8Array,
  headers: EventHeaders,
  secrets: string | readonly string[],
  { toleranceSeconds = 300 }: VerifyEventOptions = {},
): OutgoingEvent {
  const [id, seconds, signatures] = ['id', 'timestamp', 'signature'].map((name) =>
    headerOf(headers, `webhook-${name}`),
  );
  if (!id || !seconds || !signatures) throw new EventRefusedError('the webhook headers are missing');
  if (!/^\d{1,12}$/.test(seconds)) throw new EventRefusedError('webhook-timestamp is not a time');
  if (!(Math.abs(Date.now() / 1_000 - Number(seconds)) <= toleranceSeconds))
    throw new EventRefusedError('webhook-timestamp is too far from the time of this machine');
  const bytes = Buffer.from(body as string);
  const genuine = [secrets].flat().map((secret) => {
    const key = eventKeyOf(secret);
    if (!key) throw new TypeError('a secret must be whsec_ and the base64 of 24 to 64 bytes');
    return signatureOf(key, id, seconds, bytes);
  });
  const given = signatures.split(' ').map((text) => Buffer.from(/^v1,(.+)$/.exec(text)?.[1] ?? '', 'base64'));
  // Compares all of them, so that the time shows nothing.
  const matches = genuine.flatMap((one) => given.filter((other) => isEqual(one, other)));
  if (matches.length === 0) throw new EventRefusedError('no signature fits a secret and this body');
  return { ...JSON.parse(bytes.toString()), id };
}

const isEqual = (a: Buffer, b: Buffer): boolean => a.length === b.length && timingSafeEqual(a, b);

const isList = (headers: EventHeaders): headers is Iterable<readonly [string, HeaderValue]> =>
  Symbol.iterator in headers;

/** Returns all values of a header. Only `webhook-signature` may have several. */
function headerOf(headers: EventHeaders, name: string): string {
  const entries = isList(headers) ? [...headers] : Object.entries(headers);
  return entries.flatMap(([key, value]) => (key.toLowerCase() === name ? (value ?? []) : [])).join(' ');
}
