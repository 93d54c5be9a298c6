import { readFileSync } from 'node:fs';
import { execa } from 'execa';
import { describe, expect, test, vi } from 'vitest';
import { freePort } from '../../scripts/temporal/dev-server.js';
import { findTemporalCli } from '../../scripts/temporal/find-cli.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId } from '../support/lab.js';
import { createBareNamespace } from './bare-namespace.fixture.js';
import {
  type Env,
  type Process,
  receiverEnv,
  startProcess,
  startSandboxProcess,
  temporalEnv,
  useProcesses,
  workerEnv,
} from './process.fixture.js';

const NO_SERVICE = 'http://127.0.0.1:9';

const temporal = useProcesses();

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
/** A worker; the server takes its time to know new search attributes, and until then it is refused. */
const startedOnceUsable = (env: Env): Promise<Process> =>
  vi.waitFor(
    async () => {
      const worker = startProcess('src/worker.ts', env);
      await worker.ready;
      return worker;
    },
    { timeout: 60_000 },
  );

const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '');

describe.concurrent('what a program is told on its command line', () => {
  const PROGRAMS = ['src/worker.ts', 'src/receiver.ts', 'src/codec.ts', 'src/starter.ts'];
  // Whatever starts would end with 2 on so empty an environment.
  const told = async (entry: string, ...args: string[]) => {
    const run = startProcess(entry, {}, { args });
    return { code: await run.exited, stdout: run.stdout(), stderr: run.stderr() };
  };

  test.for(PROGRAMS)('--help of %s is an answer, and nothing starts', async (entry) => {
    const { code, stdout } = await told(entry, '--help');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Usage: payment-orders/);
  });

  test.for(PROGRAMS)('--version of %s is that of the package', async (entry) => {
    expect(await told(entry, '--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  test.for(PROGRAMS)('what %s does not know is refused by its name', async (entry) => {
    const { code, stderr } = await told(entry, '--zz');
    expect(code).toBe(2);
    expect(stderr).toContain("unknown option '--zz'");
    const more = await told(entry, 'zz');
    expect(more.code).toBe(2);
  });
});

describe.concurrent('bad configuration ends a process with 2 and one line per mistake', () => {
  test.for<[string, string, Env, string[]]>([
    [
      'the worker',
      'src/worker.ts',
      { PAYMENT_API_SECRET: 'zz secret', ORDER_POLL_MAX: 'zz' },
      [
        'PAYMENT_BASE_URL: is required (or PAYMENT_BASE_URL_FILE)',
        'PAYMENT_API_KEY: is required (or PAYMENT_API_KEY_FILE)',
        'PAYMENT_API_SECRET: must not contain blanks, line breaks or control characters',
        'PAYMENT_SIGNER: is required (or PAYMENT_SIGNER_FILE)',
        'ORDER_POLL_MAX: must be a duration above 0 such as 250ms, 5s, 10m, 6h or 1d',
      ],
    ],
    [
      'the receiver',
      'src/receiver.ts',
      { CALLBACK_TOKEN_KEY: 'zz', CALLBACK_PORT: 'zz' },
      ['CALLBACK_PORT: must be a port number from 0 to 65535', 'CALLBACK_TOKEN_KEY: must have at least 16 characters'],
    ],
  ])('%s', async ([, entry, env, mistakes]) => {
    const refused = startProcess(entry, env);
    expect(await refused.exited).toBe(2);
    expect(lines(refused.stderr())).toEqual(mistakes);
    expect(refused.stdout()).toBe('');
  });

  test('the worker, when the signer’s module is missing, before it asks Temporal anything', async () => {
    const env = {
      ...workerEnv(temporalEnv(temporal), NO_SERVICE),
      PAYMENT_SIGNER: './zz/no-such-signer.js',
      TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}`,
    };
    const refused = startProcess('src/worker.ts', env);
    expect(await refused.exited).toBe(2);
    expect(lines(refused.stderr())).toEqual([
      'PAYMENT_SIGNER of account default: signer module cannot be loaded (ERR_MODULE_NOT_FOUND)',
    ]);
  });

  test('the sandbox', async () => {
    const refused = startProcess('sandbox/main.ts', { SANDBOX_PORT: 'zz', SANDBOX_SIGNER: 'zz' });
    expect(await refused.exited).toBe(2);
    expect(lines(refused.stderr()).map((line) => line.split(':')[0])).toEqual(['SANDBOX_PORT', 'SANDBOX_SIGNER']);
  });
});

describe.concurrent('without Temporal', () => {
  test.for<[string, string, number, string[]]>([
    ['the worker', 'src/worker.ts', 1, []],
    ['the receiver', 'src/receiver.ts', 1, []],
    ['the starter', 'src/starter.ts', 3, ['order', 'show', 'o-1']],
  ])('%s says in one line where it looked', async ([, entry, exitCode, args]) => {
    const address = `127.0.0.1:${await freePort()}`;
    const env = { ...temporalEnv(temporal), TEMPORAL_ADDRESS: address };
    const lost = startProcess(entry, { ...workerEnv(env, NO_SERVICE), ...receiverEnv(env, 0) }, { args });
    expect(await lost.exited).toBe(exitCode);
    expect(lines(lost.stderr())).toEqual([expect.stringContaining(`cannot reach Temporal at ${address}`)]);
    expect(lost.stdout()).toBe('');
  });

  test('a namespace that does not exist ends the worker with one line that names it', async () => {
    const env = temporalEnv({ address: temporal.address, namespace: 'no-such-namespace' });
    const lost = startProcess('src/worker.ts', workerEnv(env, NO_SERVICE));
    expect(await lost.exited).toBe(2);
    expect(lines(lost.stderr())).toEqual([expect.stringContaining('no such namespace no-such-namespace')]);
  });
});

test('a namespace without search attributes: the worker ends with 2, and the command it prints repairs that', async () => {
  const namespace = await createBareNamespace(temporal.client.connection);
  const env = workerEnv(temporalEnv({ address: temporal.address, namespace }), NO_SERVICE);
  const refused = startProcess('src/worker.ts', env);
  expect(await refused.exited).toBe(2);
  const [line = '', ...more] = lines(refused.stderr());
  expect(more).toEqual([]);
  expect(line).toContain(
    `Run: temporal operator search-attribute create --namespace ${namespace} --name PaymentAccount --type Keyword`,
  );
  expect(line).toContain('--name PaymentNeedsAttention --type Bool');

  const [, ...command] = line.slice(line.indexOf('temporal operator')).split(' ');
  await execa(await findTemporalCli(() => undefined), command);
  const started = await startedOnceUsable(env);
  expect(started.stderr()).toContain(`keeps closed orders for 1 d, less than 30`);
  expect(started.stderr()).toContain(`temporal operator namespace update --namespace ${namespace} --retention 30d`);
  started.kill('SIGTERM');
  expect(await started.exited).toBe(0);
});

test('a search attribute of another type is refused at the start, with the commands that make it anew', async () => {
  const namespace = await createBareNamespace(temporal.client.connection);
  const cli = await findTemporalCli(() => undefined);
  const address = { env: { TEMPORAL_ADDRESS: temporal.address } };
  const wrong = `--name PaymentAccount --type Keyword --name PaymentOrderStatus --type Text`;
  await execa(cli, `operator search-attribute create --namespace ${namespace} ${wrong}`.split(' '), address);
  const env = workerEnv(temporalEnv({ address: temporal.address, namespace }), NO_SERVICE);
  const refused = startProcess('src/worker.ts', env);
  expect(await refused.exited).toBe(2);
  const [line = ''] = lines(refused.stderr());
  expect(line).toContain(
    `remove --yes --namespace ${namespace} --name PaymentOrderStatus --address ${temporal.address} && `,
  );
  expect(line).not.toContain('--name PaymentAccount');
  for (const command of line.slice(line.indexOf('temporal operator')).split(' && ')) {
    await execa(cli, command.split(' ').slice(1));
  }
  const started = await startedOnceUsable(env);
  started.kill('SIGTERM');
  expect(await started.exited).toBe(0);
});

test('a bug that nobody catches ends a process with 1 and shows where it is, not what it says', async () => {
  const crashed = startProcess('test/worker/crashing-process.fixture.ts', {});
  expect(await crashed.exited).toBe(1);
  expect(lines(crashed.stderr())).toEqual([
    expect.stringMatching(/^unexpected: TypeError at .*crashing-process\.fixture\.js/),
  ]);
  expect(crashed.stderr()).not.toContain('4111');
});

describe('sandbox, receiver, worker and starter, each with its own environment', () => {
  test('bring an order to its end by callback, and end with 0 on SIGTERM', async () => {
    const env = temporalEnv(temporal);
    const { sandbox, service, stats } = await startSandboxProcess();
    const receiver = startProcess('src/receiver.ts', receiverEnv(env, 0));
    const { receiver: url = '' } = await receiver.ready;
    const worker = startProcess('src/worker.ts', workerEnv(env, service, url));
    expect(await worker.ready).toMatchObject({
      temporal: temporal.address,
      namespace: temporal.namespace,
      accounts: 'default',
      payloads: 'off',
      signed: 'none',
      audit: 'none',
      identity: expect.stringMatching(/-[\w-]{4}$/),
      findings: 'retention',
      allowed: 'ALLOW_SHORT_WINDOWS',
    });

    const orderId = newOrderId('processes');
    const starter = startProcess('src/starter.ts', env, {
      args: ['order', 'start', 'withdraw', '-', '--wait', '--json'],
      stdin: JSON.stringify(orderInput('withdraw', orderId)),
    });
    expect(await starter.exited, starter.stderr()).toBe(0);
    expect(starter.stdout()).toContain('"completed"');
    const { executedByOrderId, callbacksAcked } = await stats();
    expect(executedByOrderId[orderId]).toBe(1);
    expect(callbacksAcked).toBeGreaterThan(0);
    for (const { stdout } of [sandbox, receiver, worker]) expect(lines(stdout())).toHaveLength(1);

    for (const running of [worker, receiver, sandbox]) {
      running.kill('SIGTERM');
      expect(await running.exited, running.stderr()).toBe(0);
    }
  });

  test('only the worker is given anything of the payment service', () => {
    const secretive = (env: Env) => Object.keys(env).filter((name) => name.startsWith('PAYMENT_'));
    expect(secretive(temporalEnv(temporal))).toEqual([]);
    expect(secretive(receiverEnv(temporalEnv(temporal), 0))).toEqual([]);
  });
});
