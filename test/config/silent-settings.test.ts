import { chmodSync, chownSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Problems } from '../../src/config/env.js';
import { checkRuntime } from '../../src/config/runtime.js';
import { NAMES, settingOf, sourcesOf } from '../../src/config/settings.js';
import { loadCodecConfig, loadEncryption, loadReceiverConfig, loadWorkerConfig } from '../../src/config.js';
import { ENCRYPTION_KEY, problemsOf, TOKEN_KEY, tempFile, WORKER_ENV } from './config.fixture.js';

type Settings = Record<string, string | undefined>;

const CODEC_ENV = { PAYLOAD_ENCRYPTION_KEYS: `a:${ENCRYPTION_KEY}` };
const RECEIVER_ENV = { CALLBACK_TOKEN_KEY: TOKEN_KEY };
const CALLBACKS = { CALLBACK_BASE_URL: 'https://hooks.example', ...RECEIVER_ENV };

const worker = (change: Settings) => problemsOf(loadWorkerConfig, { ...WORKER_ENV, ...change });
const receiver = (change: Settings) => problemsOf(loadReceiverConfig, { ...RECEIVER_ENV, ...change });
const codec = (change: Settings) => problemsOf(loadCodecConfig, { ...CODEC_ENV, ...change });
const client = (change: Settings) => problemsOf(loadEncryption, change);

const EMPTY = 'is set but empty: give it a value, or unset it';

describe('set but empty is a mistake, since a value that got lost must not switch anything off', () => {
  const sourcesFor = (reader: string) =>
    NAMES.filter((name) => settingOf(name).by.includes(reader)).flatMap((name) => sourcesOf(name));

  test.for([
    ...[...sourcesFor('W'), 'TEMPORAL_TLS'].map((name) => [name, worker] as const),
    ...sourcesFor('R').map((name) => [name, receiver] as const),
    ...sourcesFor('C').map((name) => [name, codec] as const),
  ])('%s', ([name, problemsOfReader]) => {
    expect(problemsOfReader({ [name]: '' })).toEqual([`${name}: ${EMPTY}`]);
  });

  test('the keys of a client, which leaves the names of others alone', () => {
    expect(client({ PAYLOAD_ENCRYPTION_KEYS_FILE: '', ORDER_POLL_MAX: '' })).toEqual([
      `PAYLOAD_ENCRYPTION_KEYS_FILE: ${EMPTY}`,
    ]);
  });
});

describe('a name that is none of ours', () => {
  const meant = (name: string) => `is not a setting: did you mean ${name}?`;
  const LISTED = 'is not a setting: docs/running.md lists all. Unset it, or rename it';

  test.for<[string, string]>([
    ['PAYMENT_ORDER_CAPS_FILE', 'PAYMENT_ORDER_CAPS'],
    ['payment_order_caps', 'PAYMENT_ORDER_CAPS'],
    ['AUDITDIR', 'AUDIT_DIR'],
    ['Audit-Dir', 'AUDIT_DIR'],
    ['batchdir', 'BATCH_DIR'],
    ['TEMPORAL_API_KEY_FILE', 'TEMPORAL_API_KEY'],
  ])('%s is a mistake that names %s', ([name, known]) => {
    expect(worker({ [name]: 'zz-value' })).toEqual([`${name}: ${meant(known)}`]);
  });

  test.for([
    'PAYMENT_ORDER_CAP',
    'PAYMENTS_ORDER_CAPS',
    'PAYMENT_API_KEY_COMMAND',
    'ORDERS_SETTLE_WINDOW',
    'CALLBACK_TOKEN_KEYS',
    'PAYLOAD_ENCRYPTION_KEY',
    'CODEC_ORIGIN',
    'BATCH_FOLDER',
    'REPORT_DIRECTORY',
    'AUDITS_DIR',
    'APROVERS_FILE',
    'APPROVERS_PATH',
    'TEMPORAL_TLS_CLIENT_CERT',
  ])('%s begins like ours and is a mistake', (name) => {
    expect(worker({ [name]: 'zz-value' })).toEqual([`${name}: ${LISTED}`]);
  });

  test('is one at the receiver and the codec endpoint, too', () => {
    expect(receiver({ CALLBACK_HOSTS: 'zz' })).toEqual([`CALLBACK_HOSTS: ${LISTED}`]);
    expect(codec({ CODEC_PORT: 'zz' })).toEqual([`CODEC_PORT: ${LISTED}`]);
  });

  test('of a key is one at a client, whose process may have variables of its own that begin like ours', () => {
    expect(client({ PAYLOAD_ENCRYPTION_KEY: 'zz' })).toEqual([`PAYLOAD_ENCRYPTION_KEY: ${LISTED}`]);
    expect(client({ PAYLOAD_SECRET: 'zz', ORDER_QUEUE_URL: 'zz', PAYMENT_ORDER_CAP: 'zz', AUDIT_DRI: 'zz' })).toEqual(
      [],
    );
  });

  test('is nothing that Kubernetes sets for a service of that name', () => {
    const links = (prefix: string, port: string) => ({
      [`${prefix}_SERVICE_HOST`]: '10.0.0.11',
      [`${prefix}_SERVICE_PORT`]: port,
      [`${prefix}_SERVICE_PORT_HTTP`]: port,
      [`${prefix}_PORT`]: `tcp://10.0.0.11:${port}`,
      [`${prefix}_PORT_${port}_TCP`]: `tcp://10.0.0.11:${port}`,
      [`${prefix}_PORT_${port}_TCP_PROTO`]: 'tcp',
      [`${prefix}_PORT_${port}_TCP_PORT`]: port,
      [`${prefix}_PORT_${port}_TCP_ADDR`]: '10.0.0.11',
    });
    const cluster = { ...links('ORDER', '80'), ...links('PAYMENT_WORKER', '9090'), ...links('TEMPORAL', '7233') };
    expect(worker({ ...cluster, ...links('CALLBACK', '8080') })).toEqual([]);
    expect(receiver(links('CALLBACK', '8080'))).toEqual(['CALLBACK_PORT: must be a port number from 0 to 65535']);
    // Without the service's host they are somebody's settings.
    expect(worker({ ORDER_SERVICE_PORT: '80' })).toHaveLength(1);
  });

  test('with a control character shows none', () => {
    expect(worker({ 'PAYMENT_\u001b[31mX': 'zz' })[0]).toMatch(/^PAYMENT_\?\[31mX: /);
  });
});

const STRONG = 'must not be easy to guess: make it with openssl rand -base64 32';

const keyOf = (bytes: Buffer): string => `a:${bytes.toString('base64')}`;
const weakToken = (): string => `CALLBACK_TOKEN_KEY: ${STRONG}`;
const weakPayload = (): string => `PAYLOAD_ENCRYPTION_KEYS: ${STRONG}`;

describe('what is weak is refused', () => {
  const RATE = 'must be a number of requests per second from 0.1 to 1000, such as 20';
  const PLAIN_URL =
    'must be written as it is used: a lower-case host, no usual port, and no %, \\, empty, . or .. parts in its path';
  const CAPS = 'must be JSON such as {"usd": "2000", "btc": "0.5"}: currencies in lower case and decimal strings';

  test.for<[string, Settings, string]>([
    ['no cap', { PAYMENT_ORDER_CAPS: '{}' }, 'PAYMENT_ORDER_CAPS: names no currency: unset it if there are no caps'],
    ['a cap in capitals', { PAYMENT_ORDER_CAPS: '{"USD":"7777"}' }, `PAYMENT_ORDER_CAPS: ${CAPS}`],
    ['no caps but null', { PAYMENT_ORDER_CAPS: 'null' }, `PAYMENT_ORDER_CAPS: ${CAPS}`],
    [
      'a cap twice',
      { PAYMENT_ORDER_CAPS: '{"usd":"7777","usd":"999999"}' },
      'PAYMENT_ORDER_CAPS: names the field usd twice with different values at position 15',
    ],
    ['yes in capitals', { ALLOW_PLAIN_TEMPORAL: 'TRUE' }, 'ALLOW_PLAIN_TEMPORAL: must be true or false'],
    ['an allowance of 1', { ALLOW_PLAIN_TEMPORAL: '1' }, 'ALLOW_PLAIN_TEMPORAL: must be true or false'],
    ['a limit that limits nothing', { PAYMENT_REQUESTS_PER_SECOND: '999999' }, `PAYMENT_REQUESTS_PER_SECOND: ${RATE}`],
    ['a limit that stops all', { PAYMENT_REQUESTS_PER_SECOND: '0.001' }, `PAYMENT_REQUESTS_PER_SECOND: ${RATE}`],
    [
      'a status twice',
      { PAYMENT_NOT_EXECUTED_STATUSES: '429,429' },
      'PAYMENT_NOT_EXECUTED_STATUSES: names a status twice',
    ],
    [
      'callbacks without their key',
      { CALLBACK_BASE_URL: 'https://h.example' },
      'CALLBACK_TOKEN_KEY: is required (or CALLBACK_TOKEN_KEY_FILE)',
    ],
    ['callback keys of one letter', { ...CALLBACKS, CALLBACK_TOKEN_KEY: 'a'.repeat(32) }, weakToken()],
    ['callback keys that repeat', { ...CALLBACKS, CALLBACK_TOKEN_KEY: 'change-change-change' }, weakToken()],
    ['callback keys of two letters', { ...CALLBACKS, CALLBACK_TOKEN_KEY: 'xyxyxxyxyyxyxxyyxyxx' }, weakToken()],
    [
      'a callback key twice',
      { ...CALLBACKS, CALLBACK_TOKEN_KEY: `${TOKEN_KEY},${TOKEN_KEY}` },
      'CALLBACK_TOKEN_KEY: names the same key twice',
    ],
    ['a payload key of zeros', { PAYLOAD_ENCRYPTION_KEYS: keyOf(Buffer.alloc(32)) }, weakPayload()],
    ['a payload key of one letter', { PAYLOAD_ENCRYPTION_KEYS: keyOf(Buffer.alloc(32, 'k')) }, weakPayload()],
    [
      'a payload key of hexadecimal digits',
      { PAYLOAD_ENCRYPTION_KEYS: keyOf(Buffer.from('9f86d081884c7d659a2feaa0c55ad015')) },
      weakPayload(),
    ],
    [
      'a payload key under two ids',
      { PAYLOAD_ENCRYPTION_KEYS: `b:${ENCRYPTION_KEY},a:${ENCRYPTION_KEY}` },
      'PAYLOAD_ENCRYPTION_KEYS: names the same key twice',
    ],
    ...[
      'https://pay.example/api/../..',
      'https://pay.example/../..',
      'https://pay.example/api/%2e%2e/x',
      'https://pay.example/api/%2E%2E',
      'https://pay.example/a%2fb',
      'https://pay.example//api',
      'https://pay.example/api//',
      'https://pay.example/./api',
      'https://pay.example\\api',
      'https:\\\\pay.example',
      'https:pay.example',
      'https:///pay.example',
      'HTTPS://pay.example',
      'https://Pay.example',
      'https://pay.example:443',
      'https://pay.example/api;x=../..',
      'http://0x7f.1/',
      'http://127.1',
    ].flatMap((url): [string, Settings, string][] => [
      [url, { PAYMENT_BASE_URL: url }, `PAYMENT_BASE_URL: ${PLAIN_URL}`],
      [url, { ...CALLBACKS, CALLBACK_BASE_URL: url }, `CALLBACK_BASE_URL: ${PLAIN_URL}`],
    ]),
    [
      'certificates that nobody checks',
      { NODE_TLS_REJECT_UNAUTHORIZED: '0' },
      'NODE_TLS_REJECT_UNAUTHORIZED: must not be 0: name an authority of your own in NODE_EXTRA_CA_CERTS instead',
    ],
  ])('%s: %j', ([, change, line]) => {
    expect(worker(change)).toEqual([line]);
  });

  test('plain addresses with and without a path and a port are taken', () => {
    for (const url of ['https://pay.example/', 'https://pay.example:8443/api/v3', 'http://[::1]:4010/x-y_z~1.0/']) {
      expect(worker({ PAYMENT_BASE_URL: url })).toEqual([]);
    }
  });

  test('at the receiver and the codec endpoint, too', () => {
    expect(receiver({ CALLBACK_TOKEN_KEY: 'a'.repeat(32) })).toEqual([weakToken()]);
    expect(receiver({ NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toHaveLength(1);
    expect(codec({ PAYLOAD_ENCRYPTION_KEYS: keyOf(Buffer.alloc(32)) })).toEqual([weakPayload()]);
    expect(client({ PAYLOAD_ENCRYPTION_KEYS: keyOf(Buffer.alloc(32)) })).toEqual([weakPayload()]);
  });
});

describe('an account that stands twice in the accounts file', () => {
  const text = (first: string, second: string) =>
    `{"eu": {"baseUrl": "https://pay.example", ${first}, ${second}, "apiSecret": "s-s-s", "signer": "hmac-sha256"}}`;
  const whole = (url: string) =>
    `"eu": {"baseUrl": "${url}", "apiKey": "k-k-k", "apiSecret": "s-s-s", "signer": "hmac-sha256"}`;

  test.for([
    ['as a whole', `{${whole('https://a.example')}, ${whole('https://b.example')}}`],
    ['in one of its fields', text('"apiKey": "k-k-k"', '"apiKey": "l-l-l"')],
    ['under an escaped name', text('"apiKey": "k-k-k"', '"apiKe\\u0079": "l-l-l"')],
  ] as const)('%s is a mistake', ([, content]) => {
    const none = Object.fromEntries(Object.keys(WORKER_ENV).map((name) => [name, undefined]));
    expect(worker({ ...none, PAYMENT_ACCOUNTS_FILE: tempFile(content) })).toEqual([
      expect.stringMatching(
        /^PAYMENT_ACCOUNTS_FILE: names the field (eu|apiKey) twice with different values at position \d+$/,
      ),
    ]);
  });
});

describe('what is weak but may be wanted has to be said', () => {
  const said = (lines: readonly string[], variable: string, allowance: string) => {
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(new RegExp(`^${variable}: .* ${allowance}=true`));
  };

  test.for<[Settings, string, string]>([
    [{ ORDER_SETTLE_WINDOW: '1ms' }, 'ORDER_SETTLE_WINDOW', 'ALLOW_SHORT_WINDOWS'],
    [{ ORDER_SETTLE_WINDOW: '59s' }, 'ORDER_SETTLE_WINDOW', 'ALLOW_SHORT_WINDOWS'],
    [{ ORDER_CONFIRM_DELAY: '1ms' }, 'ORDER_CONFIRM_DELAY', 'ALLOW_SHORT_WINDOWS'],
    ...[
      '--inspect',
      '--no-warnings --inspect=0.0.0.0:9229',
      '"--inspect-brk"',
      '--no-warnings --ins"pect"',
      '--tls-keylog=/tmp/keys',
      '--report-on-signal',
      '--insecure-http-parser',
      '--tls-min-v1.0',
      '--heapsnapshot-signal=SIGUSR2',
      '--heap-prof',
      '--openssl_shared_config',
      '--build-snapshot',
      '--option-of-a-later-version',
    ].map((NODE_OPTIONS): [Settings, string, string] => [{ NODE_OPTIONS }, 'NODE_OPTIONS', 'ALLOW_DEBUGGING']),
    ...[
      ...['NODE_DEBUG', 'NODE_DEBUG_NATIVE', 'NODE_V8_COVERAGE', 'OPENSSL_CONF', 'OPENSSL_MODULES'],
      ...['OPENSSL_ENGINES', 'SSLKEYLOGFILE', 'GRPC_SSL_CIPHER_SUITES'],
    ].map((name): [Settings, string, string] => [{ [name]: '/tmp/x' }, name, 'ALLOW_DEBUGGING']),
  ])('%j', ([change, variable, allowance]) => {
    said(worker(change), variable, allowance);
    expect(worker({ ...change, [allowance]: 'true' })).toEqual([]);
    said(worker({ ...change, [allowance]: 'false' }), variable, allowance);
  });

  test('an option is named without its value', () => {
    const [line] = worker({ NODE_OPTIONS: '--heap-prof-dir=/srv/zz --title=--prof' });
    expect(line).toMatch(/^NODE_OPTIONS: --heap-prof-dir may .*take it out/);
    expect(line).not.toContain('zz');
  });

  test.for([
    ['--import', 'tsx', '--inspect'],
    ['--tls_keylog=/tmp/keys'],
    ['-prof'],
    ['--logfile=/tmp/log', '--no-logfile-per-isolate'],
    ['--require', './apm.js', '--openssl-config=/tmp/weak.cnf'],
  ])('command line of node: %j', (commandLine) => {
    const problemsWith = (env: Settings, options: readonly string[]) =>
      problemsOf((given) => {
        const problems = new Problems(given);
        checkRuntime(given, problems, options);
        problems.throwIfAny();
      }, env);
    said(problemsWith({}, commandLine), 'command line of node', 'ALLOW_DEBUGGING');
    expect(problemsWith({ ALLOW_DEBUGGING: 'true' }, commandLine)).toEqual([]);
    expect(problemsWith({}, ['--import', 'tsx', '--max-old-space-size=512', '--enable-source-maps'])).toEqual([]);
  });

  test('what is usual is not asked about', () => {
    expect(worker({ NODE_OPTIONS: '--max-old-space-size=512 --enable-source-maps --require ./apm.js' })).toEqual([]);
    expect(worker({ NODE_OPTIONS: '-r "./my apm.js" --import tsx --no-deprecation --tls-min-v1.3' })).toEqual([]);
    expect(worker({ NODE_OPTIONS: '--max_old_space_size=512 --dns-result-order=ipv4first --use-system-ca' })).toEqual(
      [],
    );
    expect(worker({ HTTPS_PROXY: 'http://proxy:3128' })).toEqual([]);
    expect(worker({ ORDER_SETTLE_WINDOW: '1m', ORDER_CONFIRM_DELAY: '1m' })).toEqual([]);
    expect(worker({ PAYMENT_NOT_EXECUTED_STATUSES: '401,403,429' })).toEqual([]);
    expect(worker({ NODE_EXTRA_CA_CERTS: '/etc/ca.pem', NODE_TLS_REJECT_UNAUTHORIZED: '1' })).toEqual([]);
  });

  test.for(['0.0.0.0:8081', '[::]:8081', '10.0.0.1:8081'])('CODEC_ADDRESS=%s', (address) => {
    expect(codec({ CODEC_ADDRESS: address })).toEqual([expect.stringMatching(/^CODEC_TOKEN: is required/)]);
    expect(codec({ CODEC_ADDRESS: address, CODEC_TOKEN: TOKEN_KEY })).toEqual([]);
    expect(codec({ CODEC_ADDRESS: address, CODEC_TOKEN: 'a'.repeat(16) })).toEqual([`CODEC_TOKEN: ${STRONG}`]);
  });

  test.for(['127.0.0.1:8081', '127.8.8.8:0', '[::1]:8081'])('CODEC_ADDRESS=%s is of the machine', (address) => {
    expect(codec({ CODEC_ADDRESS: address })).toEqual([]);
  });

  test('a configuration tells what was said, for the line `ready`', () => {
    const env = { ...WORKER_ENV, ALLOW_SHORT_WINDOWS: 'true', ALLOW_PLAIN_TEMPORAL: 'true', ALLOW_DEBUGGING: 'false' };
    expect(loadWorkerConfig(env).allowed).toEqual(['ALLOW_PLAIN_TEMPORAL', 'ALLOW_SHORT_WINDOWS']);
    // Nothing of the worker's is in force at the receiver, though one file may configure both.
    const both = { ...RECEIVER_ENV, ALLOW_SHORT_WINDOWS: 'true', ALLOW_PLAIN_TEMPORAL: 'true' };
    expect(loadReceiverConfig(both).allowed).toEqual(['ALLOW_PLAIN_TEMPORAL']);
    expect(loadCodecConfig({ ...CODEC_ENV, ALLOW_DEBUGGING: 'true' }).allowed).toEqual(['ALLOW_DEBUGGING']);
    expect(loadWorkerConfig(WORKER_ENV).allowed).toEqual([]);
  });
});

describe.skipIf(process.platform === 'win32')('files and folders that other users may read or change', () => {
  const OPEN = /^\S+: (\S+ )?\(?.*(chmod|defaultMode).*ALLOW_READABLE_FILES=true/;
  const withMode = (path: string, mode: number): string => {
    chmodSync(path, mode);
    return path;
  };
  const keyFile = (mode: number) => ({
    PAYMENT_API_SECRET: undefined,
    PAYMENT_API_SECRET_FILE: withMode(tempFile('the-api-secret\n'), mode),
  });

  test.for([0o644, 0o640, 0o604, 0o660, 0o602, 0o620, 0o666, 0o777, 0o601])('a secret of mode %o', (mode) => {
    const change = keyFile(mode);
    const given = worker(change);
    expect(given).toEqual([expect.stringMatching(OPEN)]);
    expect(given[0]).toMatch(/^PAYMENT_API_SECRET_FILE: /);
    expect(given[0]).not.toContain(change.PAYMENT_API_SECRET_FILE);
    expect(worker({ ...change, ALLOW_READABLE_FILES: 'true' })).toEqual([]);
  });

  test.for([0o600, 0o400, 0o700])('a secret of mode %o is taken', (mode) => {
    expect(worker(keyFile(mode))).toEqual([]);
  });

  test.runIf(process.getuid?.() === 0)('a secret that its group may read is taken where that is how we read it', () => {
    // As Kubernetes mounts it with fsGroup: of root, for a process that is not.
    const change = keyFile(0o440);
    chownSync(change.PAYMENT_API_SECRET_FILE, 4711, process.getgid?.() ?? 0);
    expect(worker(change)).toEqual([]);
    expect(
      worker({ ...change, PAYMENT_API_SECRET_FILE: withMode(change.PAYMENT_API_SECRET_FILE, 0o460) }),
    ).toHaveLength(1);
  });

  test('a symbolic link counts as what it leads to, as Kubernetes mounts secrets', () => {
    const target = tempFile('the-api-secret');
    const link = join(dirname(target), 'link');
    symlinkSync(target, link);
    const change = { PAYMENT_API_SECRET: undefined, PAYMENT_API_SECRET_FILE: link };
    expect(worker(change)).toEqual([]);
    chmodSync(target, 0o644);
    expect(worker(change)).toEqual([expect.stringMatching(OPEN)]);
  });

  const none = Object.fromEntries(Object.keys(WORKER_ENV).map((name) => [name, undefined]));
  const accounts = (mode: number, secrets: object) => ({
    ...none,
    PAYMENT_ACCOUNTS_FILE: withMode(
      tempFile(JSON.stringify({ eu: { baseUrl: 'https://pay.example', signer: 'hmac-sha256', ...secrets } })),
      mode,
    ),
  });

  test('an accounts file with secrets, and a secret that it names', () => {
    const inside = { apiKey: 'k-k-k', apiSecret: 's-s-s' };
    expect(worker(accounts(0o644, inside))).toEqual([expect.stringMatching(OPEN)]);
    expect(worker(accounts(0o600, inside))).toEqual([]);
    const named = { apiKeyFile: tempFile('k-k-k'), apiSecretFile: tempFile('s-s-s') };
    // Without secrets of its own it may be read, but nobody else may say where payments go.
    expect(worker(accounts(0o644, named))).toEqual([]);
    expect(worker(accounts(0o666, named))).toEqual([expect.stringMatching(OPEN)]);
    chmodSync(named.apiSecretFile, 0o644);
    const given = worker(accounts(0o600, named));
    expect(given).toEqual([expect.stringMatching(OPEN)]);
    expect(given[0]).toMatch(/^PAYMENT_ACCOUNTS_FILE: eu\.apiSecret \(file\) /);
  });

  test('folders of batches and reports', () => {
    const batchDir = dirname(tempFile(''));
    const reportDir = join(batchDir, 'reports');
    mkdirSync(reportDir, { mode: 0o700 });
    expect(worker({ BATCH_DIR: batchDir })).toEqual([]);
    chmodSync(reportDir, 0o755);
    expect(worker({ BATCH_DIR: batchDir })).toEqual([expect.stringMatching(OPEN)]);
    expect(worker({ BATCH_DIR: batchDir })[0]).toMatch(/^REPORT_DIR: /);
    expect(worker({ BATCH_DIR: batchDir, ALLOW_READABLE_FILES: 'true' })).toEqual([]);
    chmodSync(reportDir, 0o750);
    chmodSync(batchDir, 0o757);
    expect(worker({ BATCH_DIR: batchDir })[0]).toMatch(/^BATCH_DIR: /);
    chmodSync(batchDir, 0o770);
    expect(worker({ BATCH_DIR: batchDir })).toEqual([]);
    for (const above of [batchDir, dirname(batchDir)]) {
      const found = worker({ BATCH_DIR: batchDir, REPORT_DIR: above, ALLOW_READABLE_FILES: 'true' });
      expect(found).toEqual([expect.stringMatching(/^REPORT_DIR: must not hold BATCH_DIR/)]);
    }
  });
});
