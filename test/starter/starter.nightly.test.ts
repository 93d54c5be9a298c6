import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { serviceOf } from '../../scripts/service-of.js';
import { PaymentOrders } from '../../src/client.js';
import type { OrderInput } from '../../src/contract/order/input-and-result.js';
import type { OrderType } from '../../src/contract/order/types.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId, useLab } from '../support/lab.js';
import { runStarterWith, wordsOf } from '../support/run-starter.js';
import { programOf } from '../worker/process.fixture.js';

const root = fileURLToPath(new URL('../../', import.meta.url));

const lab = useLab();

interface Run {
  exitCode: number | undefined;
  stdout: string;
  stderr: string;
  /** The one object on stdout. */
  json: () => ReturnType<typeof JSON.parse>;
}

/** Runs a command line against the lab. */
async function starter(args: string[], input?: string): Promise<Run> {
  const connect = async () => new PaymentOrders(lab.temporal.client);
  const { code: exitCode, ...texts } = await runStarterWith(connect, args, input);
  return { exitCode, ...texts, json: () => JSON.parse(texts.stdout) };
}

/** Runs the starter as its own process, with nothing in its environment but where Temporal is. */
async function starterProcess(args: string[], input = '', address = lab.temporal.address): Promise<Run> {
  const { exitCode, stdout, stderr } = await execa(process.execPath, [programOf('src/starter.ts'), ...args], {
    cwd: root,
    extendEnv: false,
    env: { PATH: process.env.PATH, TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: lab.temporal.namespace },
    input,
    timeout: 60_000,
    reject: false,
  });
  return { exitCode, stdout, stderr, json: () => JSON.parse(stdout) };
}

const start = (type: OrderType, order: OrderInput, ...options: string[]) =>
  starter(['order', 'start', type, '-', ...options], JSON.stringify(order));

/** A payout that leaves half and waits for a person. */
const parking = (orderId: string) =>
  orderInput('withdraw', orderId, { marker: 'outcome=completed_partially fraction=0.5', compensation: 'ask' });

describe('order start', () => {
  it('exits 0 as soon as Temporal has accepted the order, and 0 again for the same input', async () => {
    const orderId = newOrderId('starter-start');
    const first = await start('exchange', orderInput('exchange', orderId), '--json');
    expect(first.exitCode).toBe(0);
    // A worker that has only begun is warned of.
    const { warning: _, ...shown } = first.json();
    expect(shown).toEqual({
      orderId,
      account: 'default',
      workflowId: `order:default:${orderId}`,
      attached: false,
    });
    const second = await start('exchange', orderInput('exchange', orderId));
    expect(second).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('was started before') });
  });

  it('of an order that came to nothing or was terminated says so, and exits as the order did', async () => {
    const rejected = orderInput('withdraw', newOrderId('starter-rejected'), { marker: 'create=400' });
    await start('withdraw', rejected, '--wait');
    const again = await start('withdraw', rejected, '--json');
    expect(again.json()).toMatchObject({ attached: true, error: { type: 'OrderRejected' } });
    expect(again.exitCode).toBe(1);

    const gone = orderInput('withdraw', newOrderId('starter-gone'), { marker: 'after_ms=60000' });
    await start('withdraw', gone);
    await lab.temporal.client.workflow.getHandle(`order:default:${gone.order.order_id}`).terminate('by mistake');
    const { exitCode, stdout } = await start('withdraw', gone);
    expect(stdout).toContain('reconcile --recover');
    expect(exitCode).toBe(4);
  });

  it('of an account that no worker serves warns: the order waits', async () => {
    const order = { ...orderInput('exchange', newOrderId('starter-served')), account: 'defalt' };
    const started = await start('exchange', order, '--json');
    expect(started).toMatchObject({ exitCode: 0 });
    expect(started.json()).toMatchObject({ warning: expect.stringContaining('No worker has served account "defalt"') });
  });

  it('--wait exits 0 when the order completes, with progress on stderr and the result on stdout', async () => {
    const orderId = newOrderId('starter-wait');
    const waited = await start('exchange', orderInput('exchange', orderId), '--wait', '--json');
    expect(waited.exitCode).toBe(0);
    expect(waited.json()).toMatchObject({ orderId, attached: false, result: { outcome: 'completed' } });
    // A rerun paid nothing.
    const rerun = await start('exchange', orderInput('exchange', orderId), '--wait', '--json');
    expect(rerun.json()).toMatchObject({ orderId, attached: true, result: { outcome: 'completed' } });
    expect(waited.stderr).toContain(`waiting for order "${orderId}"`);
  });

  it('--wait exits 0 for a partial order whose compensation is done', async () => {
    const marker = 'outcome=completed_partially fraction=0.5';
    const order = orderInput('withdraw', newOrderId('starter-finish'), { marker, compensation: 'finish' });
    order.order.amount = '100';
    const { exitCode, stdout } = await start('withdraw', order, '--wait');
    expect(stdout).toMatch(/^outcome +completed_partially$/m);
    expect(stdout).toMatch(/^compensation +finish, done/m);
    expect(stdout).not.toContain('4111111111111111');
    expect(exitCode).toBe(0);
  });

  it('--wait exits 1 when the service rejects the order; --again starts it anew', async () => {
    const orderId = newOrderId('starter-again');
    const rejected = await start(
      'deposit',
      orderInput('deposit', orderId, { marker: 'create=400' }),
      '--wait',
      '--json',
    );
    expect(rejected.exitCode).toBe(1);
    expect(rejected.json()).toMatchObject({ orderId, error: { type: 'OrderRejected' } });
    const again = await start('deposit', orderInput('deposit', orderId), '--wait', '--again');
    expect(again.exitCode).toBe(0);
  });

  it('exits 2 on bad input and on a used id, and starts nothing', async () => {
    const order = orderInput('withdraw', newOrderId('starter-bad'));
    const bad = await start('withdraw', { ...order, order: { ...order.order, wallet: '4111111111111112' } }, '--json');
    expect(bad.exitCode).toBe(2);
    expect(bad.json().error.fields).toEqual([{ field: 'order.wallet', reason: expect.stringContaining('****1112') }]);
    expect((await starter(['order', 'show', order.order.order_id])).exitCode).toBe(2);
    await start('withdraw', order);
    const conflict = await start('withdraw', { ...order, order: { ...order.order, amount: '99' } });
    expect(conflict).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(
        'exists with a different amount. This start sent nothing, but that order may be paid',
      ),
    });
  });

  it('--wait --timeout exits 4 while the order goes on', async () => {
    const order = orderInput('deposit', newOrderId('starter-slow'), { marker: 'pay_ms=60000' });
    const { exitCode, stdout, stderr } = await start('deposit', order, '--wait', '--timeout', '2s');
    expect(exitCode).toBe(4);
    expect(stderr).not.toContain('error');
    expect(stdout).toContain('never start it under another id');
    expect(stdout).toMatch(/^deposit_address +T/m);
    expect(stderr).toContain('following');
  });
});

describe('a parked order', () => {
  it('ends the wait with 4 and the command lines that decide, one of which works as printed', async () => {
    const orderId = newOrderId('starter-parked');
    const { exitCode, stdout } = await start('withdraw', parking(orderId), '--wait');
    expect(exitCode).toBe(4);
    expect(stdout).toMatch(/^allowed .*accept/m);
    const [line = ''] = stdout.match(/payment-orders order decide .*--action accept.*/) ?? [];
    const asPrinted = wordsOf(line);
    // A shell takes it as it stands, and what only a person can say is refused.
    expect(await starter(asPrinted)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('by: ') });
    const typed = asPrinted.map((word) => word.replace('<your name>', 'ann').replace('<why>', 'small'));
    expect(await starter([...typed, '--json'])).toMatchObject({ exitCode: 0 });
    // Accepted as it is: a partial order without compensation is no success.
    const ended = await starter(['order', 'wait', orderId, '--json']);
    expect(ended.exitCode).toBe(1);
    expect(ended.json().result).toMatchObject({
      outcome: 'completed_partially',
      decisions: [{ action: 'accept', by: 'ann' }],
    });
  });

  it('is shown with 4; a decision without or with a stale revision is refused with 2', async () => {
    const orderId = newOrderId('starter-stale');
    await start('withdraw', parking(orderId), '--wait');
    const shown = await starter(['order', 'show', orderId, '--json']);
    expect(shown.exitCode).toBe(4);
    const { revision, runId } = shown.json().state;
    const decide = ['order', 'decide', orderId, '--action', 'accept', '--by', 'ann', '--reason', 'small'];
    const blind = await starter(decide);
    expect(blind.exitCode).toBe(2);
    expect(blind.stdout).toContain(`revision ${revision}`);
    const stale = await starter([...decide, '--run', runId, '--revision', String(revision - 1)]);
    expect(stale).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('is stale') });
    expect(await starter([...decide, '--run', runId, '--revision', String(revision)])).toMatchObject({ exitCode: 0 });
    expect(await starter([...decide, '--run', runId, '--revision', String(revision)])).toMatchObject({ exitCode: 2 });
  }, 60_000);
});

describe('an order whose workflow was terminated', () => {
  it('is listed as terminated, and show and wait exit 4 with the advice never to start it under another id', async () => {
    const orderId = newOrderId('starter-stopped');
    await start('deposit', orderInput('deposit', orderId, { marker: 'pay_ms=60000' }));
    await lab.temporal.client.workflow.getHandle(`order:default:${orderId}`).terminate('by mistake');
    for (const verb of ['show', 'wait']) {
      const shown = await starter(['order', verb, orderId, '--json']);
      expect(shown.exitCode).toBe(4);
      expect(shown.json()).toMatchObject({ orderId, error: { type: 'UnresolvedError', subject: 'order' } });
      expect(shown.json().error.message).toContain('never start it under another id');
    }
    const list = async () => (await starter(['order', 'list', '--attention'])).stdout;
    await expect
      .poll(list, { timeout: 60_000 })
      .toMatch(new RegExp(`^default +${orderId} .* terminated +attention`, 'm'));
  });
});

describe('the other verbs', () => {
  it('rates and balances print tables or one JSON object', async () => {
    expect(await starter(['rates'])).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/withdraw +usd_card/),
    });
    expect((await starter(['balances', '--json'])).json()).toMatchObject({ balances: { usd: { currency: 'usd' } } });
  });

  it('an address is created once per reference and listed', async () => {
    const create = ['address', 'create', newOrderId('ref'), '--currency', 'usdt', '--network', 'tron', '--json'];
    const { address } = (await starter(create)).json();
    expect((await starter(create)).json().address.uuid).toBe(address.uuid);
    const listed = await starter(['address', 'list', '--json']);
    expect(listed.json().addresses).toContainEqual(expect.objectContaining({ uuid: address.uuid }));
    const printed = await starter(['address', 'list']);
    expect(printed.stdout).toMatch(/ min_amount +max_amount +address_title/);
  });
});

describe('after a reconciliation', () => {
  it('a rebuilt order says that it only reports', async () => {
    const orderId = newOrderId('starter-lost');
    const input = orderInput('withdraw', orderId, { marker: 'after_ms=600000', compensation: 'finish' });
    const service = await serviceOf(lab.sandbox);
    // An order of a Temporal that is lost.
    await service.createOrder('withdraw', input.order);
    expect((await starter(['reconcile', '--recover'])).exitCode).toBeLessThan(2);
    const { stdout, exitCode } = await start('withdraw', input);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('only reports, and compensates nothing');
  });
});

describe('as a process of its own', () => {
  it('it starts an order and follows it to its end', async () => {
    const orderId = newOrderId('starter-process');
    const input = JSON.stringify(orderInput('exchange', orderId));
    const ended = await starterProcess(['order', 'start', 'exchange', '-', '--wait', '--json'], input);
    expect(ended.exitCode).toBe(0);
    expect(ended.json()).toMatchObject({ orderId, result: { outcome: 'completed' } });
    expect(ended.stderr).toContain(`waiting for order "${orderId}"`);
  });

  it('it exits 3 when Temporal cannot be reached', async () => {
    const { exitCode, stderr } = await starterProcess(['balances'], '', '127.0.0.1:1');
    expect(exitCode).toBe(3);
    expect(stderr).toContain('127.0.0.1:1');
  });
});
