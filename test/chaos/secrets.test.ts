import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { planBatch } from '../../chaos/batch.js';
import { CANARY_KINDS, canary } from '../../chaos/canaries.js';
import { credentials, personalData } from '../../chaos/evidence/hidden.js';
import { leaksAmong, SecretScanner } from '../../chaos/evidence/secrets.js';
import { planOrders } from '../../chaos/inputs.js';
import { newFolder } from '../support/batch-files.js';
import { madeOrder, SECRETS, SIGNATURE } from './secrets.fixture.js';

/** Ways to write a value, made without any help of what looks for them. */
const WRITINGS: readonly (readonly [string, (value: Buffer) => string | Buffer])[] = [
  ['as it is', (value) => value],
  ['in capitals', (value) => value.toString().toUpperCase()],
  ['in lower case', (value) => value.toString().toLowerCase()],
  ['in JSON', (value) => JSON.stringify({ x: value.toString() })],
  ['in JSON in JSON', (value) => JSON.stringify({ x: JSON.stringify({ x: value.toString() }) })],
  ['in a URL', (value) => `https://x.example/?q=${encodeURIComponent(value.toString())}&y`],
  ['in a form', (value) => new URLSearchParams({ q: value.toString() }).toString()],
  ...['', 'a', 'ab'].flatMap((before) =>
    (['base64', 'base64url'] as const).map(
      (encoding) =>
        [
          `in ${encoding} after ${before.length}`,
          (value: Buffer) => Buffer.from(`${before}${value}`).toString(encoding),
        ] as const,
    ),
  ),
  ['in base64 of JSON', (value) => Buffer.from(JSON.stringify([value.toString()])).toString('base64')],
  ['in hex', (value) => value.toString('hex')],
  ['in hex capitals', (value) => value.toString('hex').toUpperCase()],
  ['in UTF-16', (value) => Buffer.from(value.toString(), 'utf16le')],
];

/** What a run of 300 orders looks for. */
const batch = planBatch('1');
const planted = [...planOrders(300, '1'), ...batch.rows, { orderId: batch.batchId, input: batch.said }];
const HIDDEN = [...credentials(SECRETS, [SIGNATURE], ['chaos-1-00001']), ...personalData(planted, [madeOrder('d-1')])];
/** One of each kind. */
const ONE_OF_EACH = [...new Map(HIDDEN.map((hidden) => [hidden.kind, hidden])).values()];
const scanner = new SecretScanner(HIDDEN);
const NOISE = Buffer.from(Array.from({ length: 997 }, (_, index) => (index * 7) % 256));

async function fileWith(...content: (string | Buffer)[]): Promise<string> {
  const folder = newFolder();
  await writeFile(join(folder, 'file'), Buffer.concat(content.map((part) => Buffer.from(part))));
  return join(folder, 'file');
}

test('a run plants all kinds of canaries, and looks for more than 40 kinds in all', () => {
  const kinds = new Set(HIDDEN.map(({ kind }) => kind));
  for (const kind of CANARY_KINDS) expect(kinds).toContain(kind);
  expect(kinds.size).toBeGreaterThan(40);
});

test('every canary is of one order alone', () => {
  const personal = HIDDEN.filter(({ sort }) => sort === 'personal');
  expect(new Set(personal.map(({ value }) => `${value}`)).size).toBe(personal.length);
});

test.each(ONE_OF_EACH)('$kind is found however it is written, named by kind and order, and not repeated', (hidden) => {
  const { kind, orderId, value } = hidden;
  const missed = WRITINGS.filter(([, write]) => {
    // Bytes that are no text are written as bytes only.
    if (typeof value !== 'string' && !Buffer.from(`${write(value)}`, 'latin1').includes(value)) return false;
    const bytes = Buffer.concat([NOISE, Buffer.from(write(Buffer.from(value))), NOISE]);
    const leaks = scanner.leaksOf('p', bytes, 'nothing');
    return !leaks.some(({ what }) => what.startsWith(kind) && (!orderId || what.includes(orderId)));
  });
  expect(missed.map(([name]) => name)).toEqual([]);
  expect(scanner.leaksOf('p', NOISE, 'nothing')).toEqual([]);
  const told = scanner.leaksOf('p', Buffer.from(value), 'nothing');
  expect(JSON.stringify(told)).not.toContain(`${value}`);
});

test('the payload key is found as bytes, in hex and in base64', () => {
  for (const written of [
    SECRETS.payloadKey,
    ...(['hex', 'base64'] as const).map((of) => SECRETS.payloadKey.toString(of)),
  ])
    expect(scanner.leaksOf('p', Buffer.from(written), 'nothing')).not.toEqual([]);
});

test('card numbers and IBANs are found with and without groups, and in a part that tells them', () => {
  const [card, iban] = [canary('a Visa number', 'o'), canary('a German IBAN', 'o')];
  const own = new SecretScanner([card, iban].map((value) => ({ kind: 'it', orderId: 'o', value, sort: 'personal' })));
  for (const value of [card, iban]) {
    for (const separator of [' ', '-']) {
      expect(own.foundIn(Buffer.from((value.match(/.{1,4}/g) ?? []).join(separator)))).toHaveLength(1);
    }
    expect(own.foundIn(Buffer.from(value.slice(0, -4)))).toHaveLength(1);
    expect(own.foundIn(Buffer.from(value.slice(4)))).toHaveLength(1);
    expect(own.foundIn(Buffer.from(`****${value.slice(-4)}`))).toHaveLength(0);
  }
});

test('where orders are kept in the clear personal data is no leak, a credential is', () => {
  const found = scanner.foundIn(Buffer.from(`${canary('who decided', 'chaos-1-00001')} ${SECRETS.apiSecret}`));
  expect(leaksAmong('p', found, 'orders')).toEqual([{ place: 'p', what: 'the API secret' }]);
  expect(leaksAmong('p', found, 'nothing')).toHaveLength(2);
});

test('what lies across two pieces of a large file is found', async () => {
  const file = await fileWith('.'.repeat(8 * 1024 * 1024 - 5), SECRETS.tokenKey);
  const found = await scanner.foundInFile(file);
  expect(leaksAmong(file, found, 'orders')).toEqual([{ place: file, what: 'CALLBACK_TOKEN_KEY' }]);
});

test('a file that its database has removed meanwhile holds nothing; what cannot be read fails', async () => {
  const file = await fileWith('text', SECRETS.tokenKey);
  expect(await scanner.foundInFile(`${file}.gone`)).toEqual([]);
  await expect(scanner.foundInFile(dirname(file))).rejects.toThrow('EISDIR');
});
