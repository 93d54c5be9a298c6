import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { OrderState } from '../../src/contract/order/messages.js';
import { APPROVERS_FILE, KEYS } from '../support/approvers.js';
import { newFolder } from '../support/batch-files.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId } from '../support/lab.js';
import {
  type Env,
  startProcess,
  startSandboxProcess,
  temporalEnv,
  useProcesses,
  workerEnv,
} from './process.fixture.js';

// Each command line is a process that loads its sources.
vi.setConfig({ testTimeout: 240_000 });

const folder = newFolder(afterAll);
const temporal = useProcesses();
let env: Env;
let stats: Awaited<ReturnType<typeof startSandboxProcess>>['stats'];
beforeAll(async () => {
  write('approvers.json', JSON.stringify(APPROVERS_FILE));
  for (const name of ['ann', 'bob', 'zed'] as const) {
    write(`${name}.pem`, KEYS[name].export({ format: 'pem', type: 'pkcs8' }).toString());
  }
  env = temporalEnv(temporal);
  const sandbox = await startSandboxProcess();
  stats = sandbox.stats;
  const approvers = { APPROVERS_FILE: join(folder, 'approvers.json') };
  const worker = startProcess('src/worker.ts', { ...workerEnv(env, sandbox.service), ...approvers });
  expect((await worker.ready).signed).toBe('default');
});

const write = (name: string, content: string, mode = 0o600) => writeFileSync(join(folder, name), content, { mode });

/** Runs a command line in a process of its own. */
async function starter(args: string[], { stdin, more = {} }: { stdin?: string; more?: Env } = {}) {
  const command = startProcess('src/starter.ts', { ...env, ...more }, { args: [...args, '--json'], stdin });
  const code = await command.exited;
  const answer = JSON.parse(command.stdout()) as Record<string, unknown> & { error?: { message: string } };
  return { code, answer, message: answer.error?.message ?? '' };
}

const keyOf = (name: string) => join(folder, `${name}.pem`);

test('an order is decided by the processes only with the key of a person who may', async () => {
  const orderId = newOrderId('signed');
  const input = orderInput('withdraw', orderId, { marker: 'create=503-before', resend: 'never' });
  const parked = await starter(['order', 'start', 'withdraw', '-', '--wait'], { stdin: JSON.stringify(input) });
  expect(parked.code).toBe(4);
  const { revision, runId } = (parked.answer as unknown as { state: OrderState }).state;
  const decide = (by: string, ...more: string[]) => [
    'order',
    'decide',
    orderId,
    '--action',
    'resend',
    '--by',
    by,
    '--reason',
    'x',
    '--revision',
    `${revision}`,
    '--run',
    runId,
    ...more,
  ];
  expect(await starter(decide('Ann Smith'))).toMatchObject({ code: 2, message: expect.stringContaining('unsigned') });
  const stranger = await starter(decide('Ann Smith', '--key', keyOf('zed')));
  expect(stranger).toMatchObject({ code: 2, message: expect.stringContaining('no person of APPROVERS_FILE') });
  write('open.pem', KEYS.ann.export({ format: 'pem', type: 'pkcs8' }).toString(), 0o644);
  const open = await starter(decide('Ann Smith', '--key', keyOf('open')));
  expect(open).toMatchObject({ code: 2, message: expect.stringContaining('chmod 600') });
  expect((await stats()).executedByOrderId[orderId] ?? 0).toBe(0);
  const decided = await starter(decide('Ann Smith'), { more: { APPROVER_KEY_FILE: keyOf('ann') } });
  expect(decided).toMatchObject({ code: 0 });
  const ended = await starter(['order', 'wait', orderId, '--timeout', '60s']);
  expect(ended.answer).toMatchObject({
    result: { outcome: 'completed', decisions: [{ by: 'Ann Smith', keyId: expect.stringMatching(/^[0-9a-f]{16}$/) }] },
  });
  expect((await stats()).executedByOrderId[orderId]).toBe(1);
});

test('a batch is paid by the processes once two persons approved it', async () => {
  const id = newOrderId('batch');
  const row = orderInput('withdraw', newOrderId('row')).order;
  const rows = JSON.stringify([row]);
  const start = ['batch', 'start', '-', '--id', id, '--approval', 'required', '--by', 'ann smith'];
  expect((await starter(start, { stdin: rows })).code).toBe(0);
  const shown = await vi.waitFor(async () => {
    const { answer } = await starter(['batch', 'show', id]);
    const { state } = answer as { state?: { phase: string; plan?: { digest: string } } };
    if (state?.phase !== 'awaitingApproval') throw new Error('not yet');
    return state;
  }, 60_000);
  const approve = (by: string, name: string) => [
    ...['batch', 'approve', id, '--digest', shown.plan?.digest ?? '', '--by', by],
    ...['--key', keyOf(name)],
  ];
  expect((await starter(approve('Ann Smith', 'ann'))).answer).toMatchObject({ waitsForSecond: true });
  expect((await starter(approve('Ann Smith', 'ann'))).message).toContain('has approved it already');
  expect((await stats()).executedByOrderId[row.order_id] ?? 0).toBe(0);
  expect(await starter(approve('Bob Jones', 'bob'))).toMatchObject({ code: 0 });
  expect(await starter(['batch', 'show', id, '--watch', '--timeout', '60s'])).toMatchObject({ code: 0 });
  expect((await stats()).executedByOrderId[row.order_id]).toBe(1);
});
