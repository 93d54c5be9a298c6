import { describe, expect, test } from 'vitest';
import { ENCRYPTION_KEY } from '../config/config.fixture.js';
import { type Env, receiverEnv, startProcess, temporalEnv, useProcesses, workerEnv } from './process.fixture.js';

const NO_SERVICE = 'http://127.0.0.1:9';
/** Reserved for documentation: nothing answers there. */
const ELSEWHERE = '192.0.2.1:7233';
const CODEC_ENV = { PAYLOAD_ENCRYPTION_KEYS: `a:${ENCRYPTION_KEY}`, CODEC_ADDRESS: '127.0.0.1:0' };

const temporal = useProcesses();

describe.concurrent('a process whose environment gives a protection up in silence does not start', () => {
  const remote = { TEMPORAL_ADDRESS: ELSEWHERE };
  const debugged = { ...workerEnv({}, NO_SERVICE), NODE_OPTIONS: '--inspect=127.0.0.1:0' };
  const misspelt = { ...workerEnv({}, NO_SERVICE), PAYMENT_ORDERS_CAPS: '{"usd": "2000"}' };
  test.for<[string, string, Env, string, string[]]>([
    ['the worker, with Temporal elsewhere', 'src/worker.ts', workerEnv(remote, NO_SERVICE), 'TEMPORAL_ADDRESS', []],
    ['the receiver, with Temporal elsewhere', 'src/receiver.ts', receiverEnv(remote, 0), 'TEMPORAL_ADDRESS', []],
    ['the starter, with Temporal elsewhere', 'src/starter.ts', remote, 'TEMPORAL_ADDRESS', ['order', 'list']],
    ['the worker, with a debugger', 'src/worker.ts', debugged, 'NODE_OPTIONS', []],
    ['the worker, with its caps misspelt', 'src/worker.ts', misspelt, 'PAYMENT_ORDERS_CAPS', []],
    [
      'the receiver, with a log of all',
      'src/receiver.ts',
      { ...receiverEnv({}, 0), NODE_DEBUG: 'x' },
      'NODE_DEBUG',
      [],
    ],
    [
      'the codec endpoint, for everybody',
      'src/codec.ts',
      { ...CODEC_ENV, CODEC_ADDRESS: '0.0.0.0:0' },
      'CODEC_TOKEN',
      [],
    ],
  ])('%s', async ([, entry, env, variable, args]) => {
    const refused = startProcess(entry, env, { args });
    expect(await refused.exited).toBe(2);
    expect(refused.stdout()).toBe('');
    expect(refused.stderr()).toMatch(new RegExp(`^(error: )?${variable}: `, 'm'));
    expect(refused.stderr()).not.toContain('192.0.2.1');
  });
});

test('a worker with a debugger on its command line does not start', async () => {
  const refused = startProcess('src/worker.ts', workerEnv({}, NO_SERVICE), { nodeOptions: ['--inspect=127.0.0.1:0'] });
  expect(await refused.exited).toBe(2);
  expect(refused.stderr()).toMatch(/^command line of node: --inspect may open a debugger.*ALLOW_DEBUGGING=true/m);
});

describe.concurrent('what an environment says aloud stands in the line `ready`', () => {
  const ofWorker = () => ({ ...workerEnv(temporalEnv(temporal), NO_SERVICE), ALLOW_READABLE_FILES: 'true' });
  const ofReceiver = () => ({ ...receiverEnv(temporalEnv(temporal), 0), ALLOW_PLAIN_TEMPORAL: 'true' });
  const ofCodec = () => ({ ...CODEC_ENV, ALLOW_READABLE_FILES: 'true', ALLOW_DEBUGGING: 'false' });
  test.for<[string, string, () => Env, string]>([
    ['of the worker', 'src/worker.ts', ofWorker, 'ALLOW_READABLE_FILES,ALLOW_SHORT_WINDOWS'],
    ['of the receiver', 'src/receiver.ts', ofReceiver, 'ALLOW_PLAIN_TEMPORAL'],
    ['of the codec endpoint', 'src/codec.ts', ofCodec, 'ALLOW_READABLE_FILES'],
  ])('%s', async ([, entry, env, allowed]) => {
    const running = startProcess(entry, env());
    expect(await running.ready).toMatchObject({ allowed });
    running.kill('SIGTERM');
    expect(await running.exited).toBe(0);
  });

  test('and nothing where nothing was said', async () => {
    const running = startProcess('src/codec.ts', CODEC_ENV);
    expect(await running.ready).not.toHaveProperty('allowed');
    running.kill('SIGTERM');
    expect(await running.exited).toBe(0);
  });
});
