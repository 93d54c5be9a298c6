import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../scripts/temporal/dev-server.js';
import { newFolder } from '../support/batch-files.js';
import { encryptedWorkflowBundle, useNamespace } from '../support/temporal.js';
import { type Env, endProcesses, startProcess, startSandboxProcess, temporalEnv } from '../worker/process.fixture.js';

const DEPLOY = fileURLToPath(new URL('../../deploy/', import.meta.url));
const SECRETS: Record<string, string> = {
  'payment-api-key': 'sandbox-key',
  'payment-api-secret': 'sandbox-secret',
  'callback-token-key': randomBytes(32).toString('base64'),
  'payload-encryption-keys': `k1:${randomBytes(32).toString('base64')}`,
  'codec-token': randomBytes(32).toString('hex'),
  'api-keys.json': JSON.stringify([{ name: 'shop', sha256: randomBytes(32).toString('hex'), verbs: ['start'] }]),
};

const folder = newFolder(afterAll);
const temporal = useNamespace();

beforeAll(async () => void (await encryptedWorkflowBundle('required')));

afterEach(endProcesses);

/** Does what systemd does with a unit before it starts the command, with its folders in `folder`. */
async function prepare(name: string): Promise<{ entry: string; args: string[]; env: Env; signal: NodeJS.Signals }> {
  const unit = await readFile(`${DEPLOY}systemd/payment-orders-${name}.service`, 'utf8');
  const values = (key: string) => [...unit.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value = '']) => value);
  const [credentials, state] = [join(folder, name, 'credentials'), join(folder, name, 'state')];
  await mkdir(credentials, { recursive: true });
  for (const credential of values('LoadCredential')) {
    const [id = '', path = ''] = credential.split(':');
    expect(path).toBe(`/etc/payment-orders/secrets/${id}`);
    await writeFile(join(credentials, id), SECRETS[id] ?? '', { mode: 0o400 });
  }
  for (const made of values('StateDirectory').flatMap((line) => line.split(' '))) {
    await mkdir(join(state, made), {
      recursive: true,
      mode: Number.parseInt(values('StateDirectoryMode')[0] ?? '', 8),
    });
  }
  const mapped = (value: string) => value.replaceAll('%d', credentials).replaceAll('%S', state);
  const env = values('Environment').map((line): [string, string] => {
    const [variable = '', ...value] = line.split('=');
    return [variable, mapped(value.join('='))];
  });
  const [command = '', program = '', ...args] = values('ExecStart')[0]?.split(' ') ?? [];
  expect(command).toBe('/usr/bin/node');
  const entry = program.replace(/^\/opt\/payment-orders\/dist\/(\w+)\.js$/, 'src/$1.ts');
  return { entry, args, env: Object.fromEntries(env), signal: values('KillSignal')[0] as NodeJS.Signals };
}

/** What the operator writes into the file of settings of each program. */
async function settingsOf(name: string, service: string): Promise<Env> {
  if (name === 'codec') return { CODEC_ADDRESS: `127.0.0.1:${await freePort()}` };
  if (name === 'api') return { ...temporalEnv(temporal), API_ADDRESS: `127.0.0.1:${await freePort()}` };
  if (name === 'receiver') return { ...temporalEnv(temporal), CALLBACK_PORT: `${await freePort()}` };
  const example = await readFile(`${DEPLOY}worker.env.example`, 'utf8');
  const settings = [...example.matchAll(/^(\w+)=(.*)$/gm)].map(([, key = '', value = '']) => [key, value]);
  return {
    ...Object.fromEntries(settings),
    ...temporalEnv(temporal),
    PAYMENT_BASE_URL: service,
    METRICS_ADDRESS: `127.0.0.1:${await freePort()}`,
  };
}

for (const name of ['worker', 'receiver', 'api', 'codec']) {
  test(`the unit of the ${name}: its ExecStart with its Environment says ready, and its KillSignal ends it with 0`, async () => {
    const { service } = await startSandboxProcess();
    const { entry, args, env, signal } = await prepare(name);
    const process = startProcess(entry, { ...(await settingsOf(name, service)), ...env }, { args });
    const ready = await process.ready;
    expect(ready.allowed).toBeUndefined();
    if (name === 'worker') expect(ready).toMatchObject({ payloads: 'required', audit: 'kept' });
    process.kill(signal);
    expect(await process.exited).toBe(0);
  });
}

test('what is stopped has a minute or more, and what ends by a trouble that may pass is started again', async () => {
  for (const name of ['worker', 'receiver', 'api', 'codec']) {
    const unit = await readFile(`${DEPLOY}systemd/payment-orders-${name}.service`, 'utf8');
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1]), name).toBeGreaterThanOrEqual(60);
    expect(unit, name).toMatch(/^Restart=on-failure\nRestartSec=30$/m);
    expect(unit, name).not.toContain('RestartPrevent');
    expect(unit, name).toMatch(/^NoNewPrivileges=yes\nProtectSystem=strict$/m);
  }
});
