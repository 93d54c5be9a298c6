import { createHmac, randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { eventHeaders, eventKeyOf } from '../../src/contract/event-signature.js';
import { EventRefusedError, verifyEvent } from '../../src/index.js';

const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;
const keyOf = (secret: string): Buffer => eventKeyOf(secret) ?? expect.fail('no key');

const [SECRET, OTHER] = [newSecret(), newSecret()];
const EVENT = { type: 'order.final', timestamp: '2026-11-27T10:00:00.000Z', data: { account: 'default', sequence: 2 } };
const BODY = Buffer.from(JSON.stringify(EVENT));
const signed = (secrets = [SECRET], nowMs = Date.now()) => eventHeaders('run-1.2', BODY, secrets.map(keyOf), nowMs);

describe('the package standardwebhooks', () => {
  test('takes our signature, also beside that of another secret', () => {
    expect(new Webhook(SECRET).verify(BODY.toString(), signed())).toEqual(EVENT);
    for (const secret of [SECRET, OTHER])
      expect(new Webhook(secret).verify(BODY.toString(), signed([OTHER, SECRET]))).toEqual(EVENT);
  });

  test('refuses a forged body and an old signature', () => {
    expect(() => new Webhook(SECRET).verify(`${BODY} `, signed())).toThrow('No matching signature');
    expect(() => new Webhook(SECRET).verify(BODY.toString(), signed([SECRET], Date.now() - 400_000))).toThrow('old');
  });

  test('signs what verifyEvent takes', () => {
    const seconds = Math.floor(Date.now() / 1_000);
    const headers = {
      'Webhook-Id': 'run-1.2',
      'Webhook-Timestamp': String(seconds),
      'Webhook-Signature': new Webhook(SECRET).sign('run-1.2', new Date(seconds * 1_000), BODY.toString()),
    };
    expect(verifyEvent(BODY.toString(), headers, SECRET)).toEqual({ id: 'run-1.2', ...EVENT });
  });
});

describe('verifyEvent', () => {
  test('takes bytes, text and both kinds of headers, with any of the secrets', () => {
    const event = { id: 'run-1.2', ...EVENT };
    expect(verifyEvent(BODY, signed(), [OTHER, SECRET])).toEqual(event);
    expect(verifyEvent(BODY.toString(), new Headers(signed([OTHER, SECRET])), SECRET)).toEqual(event);
  });

  test('takes lists: a value each as some frameworks hold it, names and values, several signatures', () => {
    const event = { id: 'run-1.2', ...EVENT };
    const entries = Object.entries(signed());
    expect(verifyEvent(BODY, Object.fromEntries(entries.map(([name, value]) => [name, [value]])), SECRET)).toEqual(
      event,
    );
    expect(verifyEvent(BODY, entries, SECRET)).toEqual(event);
    expect(verifyEvent(BODY, new Map(entries), SECRET)).toEqual(event);
    const both = [signed([OTHER]), signed()].map((one) => one['webhook-signature'] ?? '');
    expect(verifyEvent(BODY, { ...signed(), 'webhook-signature': both }, SECRET)).toEqual(event);
  });

  test.for(['webhook-id', 'webhook-timestamp'])(
    'refuses two values of %s: nothing says which one was signed',
    (name) => {
      const value = signed()[name] ?? '';
      for (const other of [value, 'x']) {
        expect(() => verifyEvent(BODY, { ...signed(), [name]: [value, other] }, SECRET)).toThrow(EventRefusedError);
        expect(() => verifyEvent(BODY, [...Object.entries(signed()), [name, other] as const], SECRET)).toThrow(
          EventRefusedError,
        );
      }
    },
  );

  const changed = (change: object) => ({ ...signed(), ...change });
  const forged = createHmac('sha256', keyOf(OTHER)).update('x').digest('base64');

  test.for<[what: string, headers: Record<string, string | undefined>, reason: string]>([
    ['no signature', changed({ 'webhook-signature': undefined }), 'missing'],
    ['an empty signature', changed({ 'webhook-signature': '' }), 'missing'],
    ['the signature of another secret', signed([OTHER]), 'no signature fits'],
    ['a forged signature', changed({ 'webhook-signature': `v1,${forged}` }), 'no signature fits'],
    ['a cut signature', changed({ 'webhook-signature': signed()['webhook-signature']?.slice(0, 20) }), 'no signature'],
    ['another version', changed({ 'webhook-signature': signed()['webhook-signature']?.replace('v1', 'v2') }), 'no sig'],
    ['another id', changed({ 'webhook-id': 'run-1.3' }), 'no signature fits'],
    ['another time', changed({ 'webhook-timestamp': String(Math.floor(Date.now() / 1_000) - 1) }), 'no signature fits'],
    ['a time that is none', changed({ 'webhook-timestamp': 'NaN' }), 'not a time'],
    ['an old time', signed([SECRET], Date.now() - 400_000), 'too far'],
    ['a time to come', signed([SECRET], Date.now() + 400_000), 'too far'],
  ])('refuses %s', ([, headers, reason]) => {
    expect(() => verifyEvent(BODY, headers, SECRET)).toThrow(EventRefusedError);
    expect(() => verifyEvent(BODY, headers, SECRET)).toThrow(reason);
  });

  test('refuses a changed body, and no secret at all', () => {
    expect(() => verifyEvent(`${BODY} `, signed(), SECRET)).toThrow(EventRefusedError);
    expect(() => verifyEvent(BODY, signed(), [])).toThrow(EventRefusedError);
  });

  test('throws for a secret that is none, without repeating it', () => {
    expect(() => verifyEvent(BODY, signed(), 'whsec_c2hvcnQ=')).toThrow(/^a secret must be/);
  });

  test('goes by the tolerance of the caller', () => {
    const old = signed([SECRET], Date.now() - 1_000_000);
    expect(verifyEvent(BODY, old, SECRET, { toleranceSeconds: 2_000 })).toMatchObject({ type: 'order.final' });
    expect(() => verifyEvent(BODY, signed([SECRET], Date.now() - 20_000), SECRET, { toleranceSeconds: 10 })).toThrow();
    expect(() => verifyEvent(BODY, signed(), SECRET, { toleranceSeconds: Number.NaN })).toThrow(EventRefusedError);
  });
});
