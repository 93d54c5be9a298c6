import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { orderInput } from '../support/inputs.js';
import { newOrderId, useLab } from '../support/lab.js';

const EXAMPLES = fileURLToPath(new URL('../../examples/other-languages', import.meta.url));
/** The Go SDK is compiled from its sources. */
const INSTALL_MS = 15 * 60_000;

const lab = useLab();
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'other-languages-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const installs = {
  python: async () => {
    const python = join(folder, 'venv', 'bin', 'python');
    await execa('python3', ['-m', 'venv', join(folder, 'venv')]);
    await execa(python, ['-m', 'pip', 'install', '--quiet', 'temporalio']);
    return [python, join(EXAMPLES, 'pay_out.py')];
  },
  go: async () => {
    const program = join(folder, 'pay-out');
    await execa('go', ['build', '-o', program, '.'], { cwd: join(EXAMPLES, 'go') });
    return [program];
  },
};

describe.each(Object.keys(installs) as (keyof typeof installs)[])('the example in %s', (language) => {
  let command: string[] = [];
  beforeAll(async () => {
    command = await installs[language]();
  }, INSTALL_MS);

  /** Runs the example with an order; returns its last line. Its exit code is not compared: the Python SDK may crash at exit. */
  async function payOut(input: object): Promise<string | undefined> {
    const file = join(folder, `${newOrderId(language)}.json`);
    await writeFile(file, JSON.stringify(input));
    const [program = '', ...args] = command;
    const ended = await execa(program, [...args, file], {
      env: { TEMPORAL_ADDRESS: lab.temporal.address, TEMPORAL_NAMESPACE: lab.temporal.namespace },
      reject: false,
    });
    return `${ended.stderr}\n${ended.stdout}`.trim().split('\n').at(-1);
  }

  test('pays once, attaches to the same order, and gets a conflict that names the field, before its end and after', async () => {
    const orderId = newOrderId(language);
    const input = orderInput('withdraw', orderId, { marker: 'after_ms=20000' });
    const other = { ...input, order: { ...input.order, amount: '99' } };
    const first = payOut(input);
    const { order_uuid: orderUuid } = await untilCreated(orderId);
    expect(await payOut(other)).toBe('conflict: order.amount');
    const completed = `completed ${orderUuid}`;
    expect(await first).toBe(completed);
    expect(await payOut(input)).toBe(completed);
    expect(await payOut(other)).toBe('conflict: order.amount');
    expect(lab.sandbox.orders().filter(({ order }) => order.user_order_id === orderId)).toHaveLength(1);
  });
});

/** Waits until the started order exists at the service. */
async function untilCreated(orderId: string) {
  const handle = lab.orders.order(orderId);
  for (;;) {
    const created = await handle.created().catch((error: Error) => error);
    if (!(created instanceof Error)) return created;
    if (created.name !== 'UnknownIdError') throw created;
  }
}
