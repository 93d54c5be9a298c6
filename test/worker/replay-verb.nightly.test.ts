import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Lab, openLab } from '../support/lab.js';
import { keyOf } from '../temporal/stored-bytes.fixture.js';
import { type Env, endProcesses, startProcess, temporalEnv } from './process.fixture.js';
import { openOrders, versions } from './versions.fixture.js';

const ORDERS = 6;
const KEY = keyOf('a');
const KEYS = {
  PAYLOAD_ENCRYPTION: 'required',
  PAYLOAD_ENCRYPTION_KEYS: `${KEY.id}:${KEY.key.export().toString('base64')}`,
};

let incompatible: (program: string) => string;
beforeAll(async () => {
  incompatible = await versions.incompatible();
});
afterAll(endProcesses);

interface Answer {
  code: number | null;
  stderr: string;
  json: { histories: number; compatible: number; incompatible: { workflowId: string; type: string; reason: string }[] };
}

/** `replay` of a version, in a process of its own, as before a deploy. */
async function replay(program: string, env: Env): Promise<Answer> {
  const run = startProcess(program, env, { args: ['replay', '--json'] });
  const code = await run.exited;
  return { code, stderr: run.stderr(), json: run.stdout() ? JSON.parse(run.stdout()) : {} };
}

describe.each<[string, Parameters<typeof openLab>[0], Env]>([
  ['plain', {}, {}],
  ['encrypted', { encryptionKeys: [KEY], encryptionRequired: true }, KEYS],
])('open orders whose payloads are %s', (name, options, keys) => {
  let lab: Lab;
  let ids: readonly string[];
  let env: Env;
  let requests: number;
  beforeAll(async () => {
    lab = await openLab(options);
    ids = await openOrders(lab, `replayed-${name}`, ORDERS);
    env = { ...temporalEnv(lab.temporal), ...keys };
    requests = creates();
  });
  afterAll(() => lab?.close());

  const creates = () => lab.sandbox.requests().filter(({ path }) => path.endsWith('/order/withdraw')).length;
  const workflowIds = () => ids.map((id) => `order:default:${id}`).sort();

  test('go on in the version that they began in', async () => {
    const { code, json, stderr } = await replay('src/starter.ts', env);
    expect(code, stderr).toBe(0);
    expect(json).toMatchObject({ histories: ORDERS, compatible: ORDERS, incompatible: [] });
  });

  test('are named with type and reason by a version that cannot go on with them, and are left alone', async () => {
    const { code, json } = await replay(incompatible('starter'), env);
    expect(code).toBe(1);
    expect(json.incompatible.map(({ workflowId }) => workflowId).sort()).toEqual(workflowIds());
    for (const { type, reason } of json.incompatible) {
      expect(type).toBe('withdraw');
      expect(reason).toMatch(/[Nn]ondeterminism/);
    }
    expect(creates()).toBe(requests);
  });

  test('without their keys, or under another namespace’s, are never called compatible', async () => {
    if (name === 'plain') return;
    const without = await replay('src/starter.ts', temporalEnv(lab.temporal));
    expect(without.json).toMatchObject({ compatible: 0 });
    expect(without.code).toBe(1);
  });
});
