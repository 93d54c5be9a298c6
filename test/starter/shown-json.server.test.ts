import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { newFolder } from '../support/batch-files.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId, useLab } from '../support/lab.js';
import { runStarterWith } from '../support/run-starter.js';

const WALLET = '4111111111111111';
const EMAIL = 'anna@example.com';

const folder = newFolder(afterAll);
const lab = useLab({ callbacks: false });

const starter = (...argv: string[]) => runStarterWith(async () => lab.orders, argv);

/** A payout with all that may be told of a person, in a file. */
async function fileOf(orderId: string, marker: string): Promise<string> {
  const input = orderInput('withdraw', orderId, { marker });
  const order = { ...input.order, client_info: { client_id: 'anna-7', client_email: EMAIL, client_ip: '10.1.2.3' } };
  const file = join(folder, `${orderId}.json`);
  await writeFile(file, JSON.stringify({ ...input, order }));
  return file;
}

test('--json prints no wallet, payee or client of an order, whichever verb prints it; --show-wallets does', async () => {
  const done = newOrderId('json');
  const started = await starter('order', 'start', 'withdraw', await fileOf(done, 'after_ms=10'), '--wait', '--json');
  expect(JSON.parse(started.stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({
    result: {
      outcome: 'completed',
      order: { wallet_to: '****1111', order_uuid: expect.stringMatching(/^[\w-]{36}$/) },
    },
  });
  const open = newOrderId('json');
  await starter('order', 'start', 'withdraw', await fileOf(open, 'after_ms=60000'), '--json');
  await lab.orders.order(open).created();
  const runs = await Promise.all([
    starter('order', 'show', done, '--json'),
    starter('order', 'show', open, '--json'),
    starter('order', 'wait', done, '--json'),
    starter('order', 'wait', open, '--timeout', '1s', '--json'),
    starter('order', 'list', '--json'),
    starter('order', 'decide', open, '--action', 'accept', '--by', 'ann', '--reason', 'x', '--json'),
  ]);
  for (const { stdout, stderr } of [started, ...runs]) {
    for (const secret of [WALLET, EMAIL, 'anna-7', '10.1.2.3']) expect(stdout + stderr).not.toContain(secret);
  }
  const shown = await starter('order', 'show', done, '--json', '--show-wallets');
  expect(JSON.parse(shown.stdout)).toMatchObject({ result: { order: { wallet_to: WALLET } } });
});
