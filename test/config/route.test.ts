import { generateKeyPairSync } from 'node:crypto';
import { chmodSync } from 'node:fs';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { type AccountConfig, loadWorkerConfig } from '../../src/config.js';
import { openAccounts } from '../../src/worker/accounts.js';
import { CLIENT_CERTIFICATE, CLIENT_KEY, TLS_CERTIFICATE, TLS_KEY } from '../payment-service/certificates.fixture.js';
import { problemsOf, tempFile, WORKER_ENV } from './config.fixture.js';

type Settings = Record<string, string | undefined>;

const load = (change: Settings): AccountConfig | undefined =>
  loadWorkerConfig({ ...WORKER_ENV, ...change }).accounts.get('default');
const problems = (change: Settings) => problemsOf(loadWorkerConfig, { ...WORKER_ENV, ...change });

const withPassphrase = (): string =>
  generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'zz' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  }).privateKey;

/** A certificate with its key, each in a file of its own. */
const pair = (chain = CLIENT_CERTIFICATE, key = CLIENT_KEY) => ({
  clientCertFile: tempFile(chain),
  clientKeyFile: tempFile(key),
});

const ENTRY = { baseUrl: 'https://pay.example', apiKey: 'k-k-k', apiSecret: 's-s-s', signer: 'hmac-sha256' };

/** An environment whose accounts stand in a file. */
const inFile = (accounts: object): Settings => ({
  ...Object.fromEntries(Object.keys(WORKER_ENV).map((name) => [name, undefined])),
  PAYMENT_ACCOUNTS_FILE: tempFile(JSON.stringify(accounts)),
});

/** One whose account has these files. */
const withFiles = (files: object): Settings => inFile({ default: { ...ENTRY, ...files } });

/** The same file for all to read, as certificates usually are. */
const readable = (path: string, mode = 0o644): string => {
  chmodSync(path, mode);
  return path;
};

const PEM = 'must hold certificates in PEM, and no key';
const PAIR = 'must hold certificates in PEM, and clientKeyFile their key, without a passphrase';
const FIELD = 'PAYMENT_ACCOUNTS_FILE: default.';
const READABLE = /[: ](?:default\.\w+ )?may be read or changed by other users: chmod 600 .* ALLOW_READABLE_FILES=true/;

describe('certificates', () => {
  test('and key are read, with a chain and several authorities; only the key is a secret', () => {
    const chain = `${CLIENT_CERTIFICATE}\n${TLS_CERTIFICATE}\n`;
    const account = load(
      withFiles({
        clientCertFile: readable(tempFile(chain)),
        clientKeyFile: tempFile(CLIENT_KEY),
        caFile: readable(tempFile(`# ours\n${chain}`)),
      }),
    );
    expect(account).toMatchObject({ caCertificates: `# ours\n${chain}`, clientCertificate: { chain } });
    expect(account?.clientCertificate?.key.reveal()).toBe(CLIENT_KEY);
    const line = CLIENT_KEY.split('\n')[1] ?? '';
    expect(inspect(account, { depth: null, showHidden: true }) + JSON.stringify(account)).not.toContain(line);
  });

  test.for<[string, () => object, (string | RegExp)[]]>([
    [
      'a certificate without its key',
      () => ({ clientCertFile: tempFile(CLIENT_CERTIFICATE) }),
      [`${FIELD}clientCertFile goes together with its other half: give both`],
    ],
    [
      'a key without its certificate',
      () => ({ clientKeyFile: tempFile(CLIENT_KEY) }),
      [`${FIELD}clientKeyFile goes together with its other half: give both`],
    ],
    [
      'files that are not there',
      () => ({ clientCertFile: '/zz/c', clientKeyFile: '/zz/k', caFile: '/zz/a' }),
      ['caFile', 'clientCertFile', 'clientKeyFile'].map((name) => `${FIELD}${name} cannot be read as UTF-8 text`),
    ],
    ...(
      [
        ['the key in its place', () => pair(CLIENT_KEY)],
        ['the key beside it', () => pair(CLIENT_CERTIFICATE + CLIENT_KEY)],
        ['the certificate in the key’s place', () => pair(undefined, CLIENT_CERTIFICATE)],
        ['an empty key file', () => pair(undefined, '')],
        ['a key with a passphrase', () => pair(undefined, withPassphrase())],
        ['another key', () => pair(undefined, TLS_KEY)],
      ] as const
    ).map(([what, files]): [string, () => object, string[]] => [what, files, [`${FIELD}clientCertFile ${PAIR}`]]),
    ['no authority', () => ({ caFile: tempFile('') }), [`${FIELD}caFile ${PEM}`]],
    [
      // TLS would pass it over in silence, and trust the others only.
      'an authority that is damaged',
      () => ({ caFile: tempFile(`${TLS_CERTIFICATE}\n${TLS_CERTIFICATE.replace('MIIB', 'MIIC')}`) }),
      [`${FIELD}caFile ${PEM}`],
    ],
    [
      'an authority that is cut off',
      () => ({ caFile: tempFile(`${TLS_CERTIFICATE}\n${TLS_CERTIFICATE.slice(0, -40)}`) }),
      [`${FIELD}caFile ${PEM}`],
    ],
    ['a key that others may read', () => ({ ...pair(), clientKeyFile: readable(tempFile(CLIENT_KEY)) }), [READABLE]],
    [
      'certificates that others may write',
      () => ({ ...pair(), caFile: readable(tempFile(TLS_CERTIFICATE), 0o646) }),
      [READABLE],
    ],
    [
      'a service in the clear',
      () => ({ ...pair(), caFile: tempFile(TLS_CERTIFICATE), baseUrl: 'http://127.0.0.1:4010' }),
      ['caFile', 'clientCertFile', 'clientKeyFile'].map(
        (name) => `${FIELD}${name} needs an https URL of the service: without TLS it would do nothing`,
      ),
    ],
  ])('refused: %s', ([, settings, lines]) => {
    const given = problems(withFiles(settings()));
    expect(given).toEqual(lines.map((line) => (typeof line === 'string' ? line : expect.stringMatching(line))));
    expect(given.join()).not.toMatch(/MI[GI]|zz/);
  });

  test('stand in the accounts file, one set for each account', () => {
    const { accounts } = loadWorkerConfig(
      inFile({ eu: { ...ENTRY, ...pair(), caFile: tempFile(TLS_CERTIFICATE) }, us: { ...ENTRY, apiKey: 'l-l-l' } }),
    );
    expect(accounts.get('eu')).toMatchObject({ caCertificates: TLS_CERTIFICATE, clientCertificate: {} });
    expect(accounts.get('us')).not.toHaveProperty('clientCertificate');
    expect(problems(withFiles({ caFile: '' }))).toHaveLength(1);
  });
});

describe('PAYMENT_PROXY_URL', () => {
  const FORM = 'must be http://host:port or http://user:password@host:port, with user and password percent-encoded';

  test.for<[string, object]>([
    ['http://proxy.example:3128', { host: 'proxy.example', port: 3128 }],
    ['http://proxy:80/', { host: 'proxy', port: 80 }],
    ['http://[::1]:3128', { host: '::1', port: 3128 }],
  ])('%s', ([url, proxy]) => {
    expect(load({ PAYMENT_PROXY_URL: url })?.proxy).toEqual(proxy);
  });

  test('its credentials are a secret, also from a file', () => {
    const url = 'http://worker:p%40ss%3Aw%2Frd@10.0.0.1:3128';
    for (const change of [{ PAYMENT_PROXY_URL: url }, { PAYMENT_PROXY_URL_FILE: tempFile(`${url}\n`) }]) {
      const account = load(change);
      expect(account?.proxy).toMatchObject({ host: '10.0.0.1', port: 3128 });
      expect(account?.proxy?.credentials?.reveal()).toBe('worker:p@ss:w/rd');
      expect(inspect(account, { depth: null, showHidden: true }) + JSON.stringify(account)).not.toMatch(/p@ss|p%40ss/);
    }
  });

  test.for([
    'proxy.example:3128',
    'zz',
    'https://proxy.example:3128',
    'socks5://proxy.example:1080',
    'HTTP://proxy.example:3128',
    // Which port is meant is not the same for all.
    'http://proxy.example',
    'http://proxy.example:99999',
    'http://proxy.example:0',
    'http://proxy.example:3128/path',
    'http://proxy.example:3128?x=1',
    'http://proxy example:3128',
    // Credentials that got lost.
    'http://@proxy.example:3128',
    'http://:@proxy.example:3128',
    'http://zz@proxy.example:3128',
    'http://zz:@proxy.example:3128',
    'http://:zz@proxy.example:3128',
    'http://z%3Az:zz@proxy.example:3128',
    'http://zz:z%zz@proxy.example:3128',
    'http://zz:z%0D%0Az@proxy.example:3128',
    'http://zz:z@z@proxy.example:3128',
  ])('refused: %s', (url) => {
    expect(problems({ PAYMENT_PROXY_URL: url })).toEqual([`PAYMENT_PROXY_URL: ${FORM}`]);
  });

  test('refused: given twice, unreadable, empty, for others to read, beside a service in the clear', () => {
    expect(problems({ PAYMENT_PROXY_URL: 'http://p:1', PAYMENT_PROXY_URL_FILE: tempFile('http://p:1') })).toEqual([
      'PAYMENT_PROXY_URL: is given twice: unset PAYMENT_PROXY_URL or PAYMENT_PROXY_URL_FILE',
    ]);
    expect(problems({ PAYMENT_PROXY_URL_FILE: '/zz' })).toEqual([
      'PAYMENT_PROXY_URL_FILE: cannot be read as UTF-8 text',
    ]);
    expect(problems({ PAYMENT_PROXY_URL_FILE: tempFile('') })).toEqual([`PAYMENT_PROXY_URL_FILE: ${FORM}`]);
    expect(problems({ PAYMENT_PROXY_URL_FILE: readable(tempFile('http://p:1')) })).toEqual([
      expect.stringMatching(READABLE),
    ]);
    expect(problems({ PAYMENT_PROXY_URL: 'http://p:1', PAYMENT_BASE_URL: 'http://127.0.0.1:4010' })).toEqual([
      'PAYMENT_PROXY_URL: is for https only: account default is asked by plain http',
    ]);
  });
});

test('what the settings say reaches the client: an account opens with all of them', async () => {
  const settings = withFiles({ ...pair(), caFile: tempFile(TLS_CERTIFICATE) });
  const { accounts } = loadWorkerConfig({ ...settings, PAYMENT_PROXY_URL: 'http://w:zz-pw@[::1]:9' });
  const account = (await openAccounts(accounts)).get('default');
  await expect(account?.service.balances({ timeoutMs: 20_000 })).rejects.toMatchObject({
    code: 'not_sent',
    reason: expect.stringMatching(/^proxy: /),
  });
});
