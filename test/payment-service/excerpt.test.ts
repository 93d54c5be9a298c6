import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { callbackUrl } from '../../src/contract/callback-url.js';
import { RejectedError } from '../../src/payment-service/errors.js';
import { excerptOf } from '../../src/payment-service/excerpt.js';
import { withdrawRequest } from './objects.fixture.js';
import { API_KEY, clientFor, SIGNATURE, startServer, startTcpServer } from './server.fixture.js';

const REQUEST = withdrawRequest({
  wallet: '4111111111111111',
  wallet_memo: 'memo-77',
  description: 'salary of Joan Doe',
  client_info: { client_id: 'c 9', client_email: 'joan.doe@example.com', client_ip: '10.1.2.3' },
  wallet_details: { recipient_bank: 'First Bank', recipient_name: 'Zoë Müller', taxpayer_number: '1234567890' },
});

const said = (body: unknown, request: object = REQUEST) =>
  excerptOf(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), request);

describe('what an answer says', () => {
  test.each<[what: string, body: unknown, expected: string | undefined]>([
    ['code and message', { status: 'error', code: 1042, message: 'limit exceeded' }, '1042: limit exceeded'],
    ['an error object', { error: { code: 'E7', message: 'no such network' } }, 'E7: no such network'],
    ['an error text', { error: 'limit exceeded' }, 'limit exceeded'],
    ['reasons by field', { message: 'bad', errors: { amount: 'too small' } }, 'bad: {"amount":"too small"}'],
    ['a list of reasons', { errors: ['too small', 'too late'] }, '["too small","too late"]'],
    ['JSON of another kind', { reason: 'too small' }, '{"reason":"too small"}'],
    ['JSON text', '"too small"', 'too small'],
    ['plain text', '  amount\n is\ttoo small ', 'amount is too small'],
    ['a page', '<html><body><h1>Bad</h1> request</body></html>', 'Bad request'],
    ['nothing', '', undefined],
    ['an empty object', '{}', undefined],
    ['blanks', ' \n ', undefined],
    ['bytes that are no text', '\uFFFD\uFFFD', undefined],
  ])('%s', (_, body, expected) => {
    expect(said(body)).toBe(expected);
  });

  test('is cut after 300 characters, once everything is masked', () => {
    const text = said('abc '.repeat(5_000));
    expect(text).toHaveLength(300);
    expect(said(`${'x '.repeat(145)} 4111111111111111`)).not.toContain('4111');
  });
});

describe('what it hides', () => {
  test.each([
    ['the card', 'wallet 4111111111111111 is closed', 'wallet **** is closed'],
    ['the card with blanks', 'wallet 4111 1111 1111 1111 is closed', 'wallet **** is closed'],
    ['the card with dots or slashes', '4111.1111.1111.1111, 4111/1111/1111/1111', '****, ****'],
    ['names in another form of Unicode', `payee ${'Zoë Müller'.normalize('NFD')}`, 'payee ****'],
    ['an e-mail as in a URL', 'mail joan.doe%40example.com', 'mail ****'],
    ['another card with dashes', 'wallet 5555-5555-5555-4444 is closed', 'wallet **** is closed'],
    ['an e-mail of somebody', 'mail bob@example.org', 'mail ****'],
    ['the e-mail', 'mail JOAN.DOE@EXAMPLE.COM', 'mail ****'],
    ['the name in parts', 'unknown person MÜLLER, Zoë', 'unknown person ****, ****'],
    ['the bank', 'no bank named First Bank', 'no **** named ****'],
    ['words of the description', 'what is salary?', 'what is ****?'],
    ['the memo', 'memo memo-77 is wrong', 'memo **** is wrong'],
    ['the address of the client', 'blocked: 10.1.2.3', 'blocked: ****'],
    ['a callback URL', 'cannot reach https://hooks.example/callbacks/default/o.w-1.t0ken', 'cannot reach ****'],
    ['what is long enough to be a key', `key ${'a'.repeat(26)}`, 'key ****'],
  ])('%s', (_, text, expected) => {
    expect(said({ message: text })).toBe(expected);
    expect(said(text)).toBe(expected);
  });

  test('every private value of a request, wherever it stands, however it is written', () => {
    const alphabet = fc.constantFrom(...'abcdefgXYZ0123456789äß.$^*+?()[]{}|/\\');
    const value = fc.string({ unit: alphabet, minLength: 4, maxLength: 40 });
    fc.assert(
      fc.property(value, fc.boolean(), fc.boolean(), (wallet, asJson, upper) => {
        const shown = upper ? wallet.toUpperCase() : wallet;
        const text = `x ${shown} y`;
        const excerpt = said(asJson ? { message: text } : text, { wallet }) ?? '';
        expect(excerpt.toLowerCase()).not.toContain(wallet.toLowerCase());
      }),
    );
  });

  test('names, amounts and the order id stay readable', () => {
    expect(said({ message: 'order w-1: 100.00 usd on card is above the limit' })).toBe(
      'order w-1: 100.00 usd on card is above the limit',
    );
  });
});

describe('a 400 stays a 400, whatever its body does', () => {
  const head = 'HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\n';
  const raw = (text: string, then: 'end' | 'reset' | 'stay') =>
    startTcpServer((socket) =>
      socket.once('data', () => {
        socket.write(text);
        if (then === 'end') socket.end();
        if (then === 'reset') setTimeout(() => socket.resetAndDestroy(), 50);
      }),
    );
  const refusal = async (baseUrl: string): Promise<RejectedError> => {
    const failed = clientFor(baseUrl, { requestTimeoutMs: 500 }).createOrder('withdraw', REQUEST);
    const error: unknown = await failed.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RejectedError);
    return error as RejectedError;
  };

  test.each<[what: string, body: string, then: 'end' | 'reset' | 'stay', excerpt: string | undefined]>([
    ['none at all', `${head}content-length: 0\r\n\r\n`, 'end', undefined],
    ['shorter than announced', `${head}content-length: 500\r\n\r\ntoo small`, 'end', 'too small'],
    ['reset half-way', `${head}content-length: 500\r\n\r\ntoo small`, 'reset', 'too small'],
    ['never ended', `${head}content-length: 500\r\n\r\ntoo small`, 'stay', 'too small'],
    ['never begun', `${head}content-length: 500\r\n\r\n`, 'stay', undefined],
  ])('%s', async (_, text, then, excerpt) => {
    expect((await refusal(await raw(text, then))).excerpt).toBe(excerpt);
  });

  test('without end: no more than its beginning is read', async () => {
    let written = 0;
    const { baseUrl } = await startServer((response) => {
      response.writeHead(400);
      const more = () => {
        if (response.destroyed) return;
        written += 64 * 1024;
        response.write('no '.repeat(22_000), () => setImmediate(more));
      };
      more();
    });
    expect((await refusal(baseUrl)).excerpt).toHaveLength(300);
    expect(written).toBeLessThan(16 * 1024 * 1024);
  });

  test('it shows neither key nor signature', async () => {
    const { baseUrl } = await startServer((response) => {
      response.writeHead(400);
      response.end(`key ${API_KEY.toUpperCase()} with ${SIGNATURE}`);
    });
    expect((await refusal(baseUrl)).message).toBe(
      'payment service rejected the request (HTTP 400: key **** with ****)',
    );
  });
});

/** As PHP writes JSON by default. */
const escapedJson = (value: unknown): string =>
  JSON.stringify(value)
    .replace(/[\u0080-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replaceAll('/', '\\/');

describe('however it is quoted', () => {
  test.each<[how: string, quote: (url: string) => unknown]>([
    ['its path', (url) => ({ message: `callback path ${new URL(url).pathname} is not reachable` })],
    ['host and path', (url) => ({ message: `cannot reach ${url.slice('https://'.length)}` })],
    ['as a value of a form', (url) => ({ message: `bad callback_url=${encodeURIComponent(url)}` })],
    ['twice escaped', (url) => ({ message: `got ${encodeURIComponent(escapedJson({ url }))}` })],
    ['its last part', (url) => ({ message: `token ${url.split('.').at(-1)} is unknown` })],
  ])('a callback token is not shown: %s', (_, quote) => {
    // Of one token in six no part is long enough to be hidden by its look.
    for (let n = 0; n < 60; n += 1) {
      const path = { kind: 'order', account: 'default', orderId: `payroll-${n}` } as const;
      const callback_url = callbackUrl('https://pay.example/hooks', 'k'.repeat(32), path);
      expect(said(quote(callback_url), { ...REQUEST, callback_url })).not.toContain(callback_url.split('.').at(-1));
    }
  });

  test.each<[how: string, body: unknown]>([
    ['JSON in a message', { message: `invalid: ${escapedJson({ details: REQUEST.wallet_details })}` }],
    ['no JSON as a whole', `<b>Warning</b>: upstream<br>${escapedJson(REQUEST.wallet_details)}`],
    ['a form', { message: `got ${new URLSearchParams(REQUEST.wallet_details as Record<string, string>)}` }],
    ['a form in Latin-1', { message: 'got recipient_name=Zo%EB+M%FCller' }],
    ['a page', 'bad name: Zo&euml; M&uuml;ller, Zo&#235; M&#xFC;ller'],
  ])('a name is not shown: %s', (_, body) => {
    expect(said(body)).not.toMatch(/zo.{0,8}\sm|ller/i);
  });
});
