import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer, request, type Server } from 'node:http';
import { type AddressInfo, createServer, type Server as TcpServer } from 'node:net';
import { join } from 'node:path';
import { msToTs } from '@temporalio/common/lib/time.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../scripts/temporal/dev-server.js';
import { newFolder } from '../support/batch-files.js';
import { createTestNamespace, type TestNamespace } from '../support/temporal.js';
import {
  type Env,
  receiverEnv,
  startProcess,
  startSandboxProcess,
  temporalEnv,
  useProcesses,
  workerEnv,
} from '../worker/process.fixture.js';

/** What every misconfiguration must be told within. */
const LIMIT_MS = 10_000;

const top = newFolder(afterAll);
const servers: (Server | TcpServer)[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});
const temporal = useProcesses();
let service: string;

const urlOf = (server: Server | TcpServer): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

async function listening<T extends Server | TcpServer>(server: T): Promise<T> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  servers.push(server);
  return server;
}

/** The sandbox as a machine shows it whose clock is ten minutes ahead. */
const serviceAhead = async (): Promise<string> =>
  urlOf(
    await listening(
      createHttpServer((incoming, outgoing) => {
        const options = { method: incoming.method, headers: incoming.headers, agent: false };
        const onward = request(`${service}${incoming.url}`, options, (answer) => {
          const date = new Date(Date.now() + 10 * 60_000).toUTCString();
          outgoing.writeHead(answer.statusCode ?? 502, { ...answer.headers, date });
          answer.pipe(outgoing);
        });
        incoming.pipe(onward);
      }),
    ),
  );

/** Takes connections and says nothing. */
const silent = async (): Promise<string> => urlOf(await listening(createServer()));

const keepFor = async (namespace: string, days: number): Promise<void> => {
  const config = { workflowExecutionRetentionTtl: msToTs(days * 86_400_000) };
  await temporal.client.workflowService.updateNamespace({ namespace, config });
};

async function readyNamespace(days = 30): Promise<TestNamespace> {
  const made = await createTestNamespace();
  await keepFor(made.namespace, days);
  return made;
}

const at = (namespace: string): Env => temporalEnv({ address: temporal.address, namespace });

beforeAll(async () => {
  await keepFor(temporal.namespace, 30);
  ({ service } = await startSandboxProcess());
});

/** A worker's environment that nothing is wrong with. */
const right = (): Env => ({ ...workerEnv(temporalEnv(temporal), service), BATCH_DIR: top });

interface Found {
  check: string;
  level: string;
  account?: string;
  text: string;
}

async function doctor(env: Env, ...args: string[]) {
  const fromMs = performance.now();
  const run = startProcess('src/starter.ts', env, { args: ['doctor', ...args] });
  const code = await run.exited;
  return { code, ms: performance.now() - fromMs, stdout: run.stdout(), stderr: run.stderr() };
}

/** A line of the log without its JSON, or the line itself. */
const saidIn = (line: string): string => (line.startsWith('{') ? JSON.parse(line).msg : line);

const findingsOf = (stdout: string): Found[] => JSON.parse(stdout).findings;

/** What a start came to: what it said until it was ready, or had ended, and after how long it said it. */
async function started(env: Env, text = /./) {
  const fromMs = performance.now();
  const worker = startProcess('src/worker.ts', env);
  let ms: number | undefined;
  const watching = setInterval(() => {
    if (
      worker
        .stderr()
        .split('\n')
        .some((line) => text.test(saidIn(line)))
    )
      ms ??= performance.now() - fromMs;
  }, 20);
  const ready = await worker.ready.catch(() => undefined);
  clearInterval(watching);
  ms ??= performance.now() - fromMs;
  if (ready) worker.kill('SIGTERM');
  const code = await worker.exited;
  return { code, ms, ready, stderr: worker.stderr(), stdout: worker.stdout() };
}

test('nothing is found where nothing is wrong: `doctor` ends with 0, and `ready` names no finding', async () => {
  const { code, stdout, stderr } = await doctor(right());
  expect(code, stdout + stderr).toBe(0);
  for (const check of ['namespace', 'search-attributes', 'signed-read', 'order-accounts'])
    expect(stdout).toMatch(new RegExp(`^ok +${check}`, 'm'));
  const { ready, stderr: log } = await started(right());
  expect(ready, log).not.toHaveProperty('findings');
});

type Case = [
  title: string,
  env: () => Promise<Env> | Env,
  found: { check: string; level: string; text: RegExp },
  start: 'refused' | 'told',
];

const shortlyKept = async () => ({ ...right(), ...at((await readyNamespace(1)).namespace) });

/** Two accounts of which one has a secret that the service does not take. */
const oneOfTwo = (): Env => ({ ...right(), PAYMENT_API_SECRET: 'another-secret' });

const CASES: Case[] = [
  [
    'one day of retention',
    shortlyKept,
    { check: 'retention', level: 'warning', text: /keeps closed orders for 1 d/ },
    'told',
  ],
  ['a wrong secret', oneOfTwo, { check: 'signed-read', level: 'error', text: /HTTP 401/ }, 'told'],
  [
    'a dead base URL',
    async () => ({ ...right(), PAYMENT_BASE_URL: `http://127.0.0.1:${await freePort()}` }),
    { check: 'signed-read', level: 'error', text: /ECONNREFUSED/ },
    'told',
  ],
  [
    'a base URL behind which nobody answers',
    async () => ({ ...right(), PAYMENT_BASE_URL: await silent() }),
    { check: 'signed-read', level: 'error', text: /timeout/ },
    'told',
  ],
  [
    'a clock ten minutes behind',
    async () => ({ ...right(), PAYMENT_BASE_URL: await serviceAhead() }),
    { check: 'clock', level: 'error', text: /(599|600|601) s/ },
    'told',
  ],
  [
    'a callback URL that nobody answers at',
    async () => ({
      ...right(),
      CALLBACK_BASE_URL: `http://127.0.0.1:${await freePort()}`,
      CALLBACK_TOKEN_KEY: 'token-key-of-the-process-tests',
    }),
    { check: 'callback', level: 'warning', text: /ECONNREFUSED/ },
    'told',
  ],
  [
    'a cap of a currency that is misspelt',
    // Of its own: workers with other settings wait for each other.
    async () => ({
      ...right(),
      ...at((await readyNamespace()).namespace),
      PAYMENT_ORDER_CAPS: '{"usd": "10", "uds": "10"}',
    }),
    { check: 'caps', level: 'warning', text: /PAYMENT_ORDER_CAPS names uds, which/ },
    'told',
  ],
  [
    'a misspelt setting',
    () => ({ ...right(), PAYMENT_ORDER_CAP: '{"usd": "10"}' }),
    { check: 'settings', level: 'error', text: /PAYMENT_ORDER_CAP: is not a setting/ },
    'refused',
  ],
  ...(['REPORT_DIR', 'AUDIT_DIR'] as const).map((name): Case => {
    // Nobody may write there, whoever runs the tests.
    const env = () => ({ ...right(), [name]: '/proc', ALLOW_READABLE_FILES: 'true' });
    const text = new RegExp(`^${name}: .*can be written`);
    return [`a ${name} that cannot be written`, env, { check: 'settings', level: 'error', text }, 'refused'];
  }),
  [
    'a Temporal that says nothing',
    async () => ({ ...right(), TEMPORAL_ADDRESS: (await silent()).slice('http://'.length) }),
    { check: 'temporal', level: 'error', text: /cannot reach Temporal at 127.0.0.1/ },
    'refused',
  ],
];

test.for(CASES)(
  '%s is found by `doctor` and at the start, each within 10 s',
  async ([title, make, { text, ...found }, start]) => {
    const env = await make();
    const asked = await doctor(env, '--json');
    const said = findingsOf(asked.stdout).find(({ check, level }) => check === found.check && level === found.level);
    expect(said?.text, asked.stdout + asked.stderr).toMatch(text);
    expect(asked.code).toBe(found.level === 'error' ? 1 : 0);
    const worker = await started(env, text);
    process.stdout.write(`${title}: doctor ${Math.round(asked.ms)} ms, start ${Math.round(worker.ms)} ms\n`);
    expect(Math.max(asked.ms, worker.ms)).toBeLessThan(LIMIT_MS);
    if (start === 'refused') {
      expect(worker.code).toBeGreaterThan(0);
      expect(worker.stderr).toMatch(new RegExp(text, 'm'));
      return;
    }
    expect(worker.code, worker.stderr).toBe(0);
    expect(worker.ready?.findings).toContain(found.check);
    const line = worker.stderr.split('\n').find((each) => each.includes(`"check":"${found.check}"`)) ?? '{}';
    expect(JSON.parse(line).msg, worker.stderr).toMatch(text);
  },
);

test('a wrong key of one account keeps no worker from serving the other', async () => {
  const { baseUrl, ...rest } = {
    baseUrl: service,
    apiKey: 'sandbox-key',
    apiSecret: 'sandbox-secret',
    signer: 'hmac-sha256',
  };
  const accounts = { good: { baseUrl, ...rest }, bad: { baseUrl, ...rest, apiKey: 'taken-back' } };
  const path = join(top, 'accounts.json');
  await writeFile(path, JSON.stringify(accounts), { mode: 0o600 });
  const { PAYMENT_BASE_URL, PAYMENT_API_KEY, PAYMENT_API_SECRET, PAYMENT_SIGNER, ...env } = right();
  const { ready, stderr } = await started({ ...env, PAYMENT_ACCOUNTS_FILE: path });
  expect(ready, stderr).toMatchObject({ accounts: 'good,bad', findings: 'signed-read:bad' });
});

test('with Temporal gone all else is checked, and so every mistake is told at once', async () => {
  const env = { ...right(), TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}`, PAYMENT_API_KEY: 'another-key' };
  const { stdout } = await doctor(env, '--json');
  expect(findingsOf(stdout).map(({ check }) => check)).toEqual(['temporal', 'signed-read']);
});

test('neither `doctor` nor a start shows a secret, and neither leaves a file behind', async () => {
  const secrets = {
    PAYMENT_API_KEY: 'canary-key-1',
    PAYMENT_API_SECRET: 'canary-secret-2',
    CALLBACK_TOKEN_KEY: 'canary-token-key-3',
  };
  const payloadKey = randomBytes(32).toString('base64');
  const dead = `http://127.0.0.1:${await freePort()}`;
  const env = { ...right(), ...secrets, CALLBACK_BASE_URL: dead, PAYLOAD_ENCRYPTION_KEYS: `k1:${payloadKey}` };
  const asked = await doctor(env);
  const start = await started(env);
  expect(asked.stdout).toMatch(/^error +signed-read/m);
  expect(start.ready?.findings).toBe('signed-read:default,callback');
  const said = asked.stdout + asked.stderr + start.stdout + start.stderr;
  for (const secret of [...Object.values(secrets), payloadKey]) expect(said).not.toContain(secret);
  expect((await readdir(top)).filter((name) => name.startsWith('.'))).toEqual([]);
});

test('a receiver is refused without its namespace', async () => {
  const fromMs = performance.now();
  const refused = startProcess('src/receiver.ts', receiverEnv(at('no-such-namespace'), 0));
  expect(await refused.exited).toBe(2);
  expect(refused.stderr()).toMatch(/^TEMPORAL_NAMESPACE: no such namespace no-such-namespace/);
  expect(performance.now() - fromMs).toBeLessThan(LIMIT_MS);
});
