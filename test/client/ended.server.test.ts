import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { orderQuery } from '../../src/client/list-orders.js';
import { cursorOf } from '../../src/client/pages.js';
import { orderStartOptions } from '../../src/client/start-options.js';
import { PaymentOrders } from '../../src/client.js';
import { connectTemporal } from '../../src/temporal.js';
import { apiKey, runApi } from '../api/api.fixture.js';
import { end, payout, useClient } from './client.fixture.js';

const fixture = useClient();

afterEach(() => void vi.unstubAllEnvs());

const ORDERS = 60;
const WAIT = { timeout: 60_000, interval: 200 };

describe('the feed of ended orders', () => {
  it('returns each of many ends at least once to a reader that is killed again and again', async () => {
    const ids = Array.from({ length: ORDERS }, (_, n) => `fed-${n}`);
    await Promise.all(ids.map((id) => fixture.orders.start('withdraw', payout(id))));
    const ending = (async () => {
      for (const id of ids) await end(fixture, id);
    })();
    const got: string[] = [];
    let stored: string | undefined;
    // A reader that stores the cursor after its work, if it lives so long. Each one has a client of its own.
    const read = async (dies: 'before the answer' | 'before it stores' | undefined): Promise<void> => {
      const killed = new AbortController();
      const reader = new PaymentOrders(fixture.namespace.client);
      const answer = reader.ended({ after: stored, limit: 7, signal: killed.signal });
      if (dies === 'before the answer') killed.abort();
      const { orders, cursor } = await answer;
      got.push(...orders.map(({ orderId }) => orderId));
      expect(cursor.length).toBeLessThanOrEqual(4_000);
      if (!dies) stored = cursor;
    };
    let round = 0;
    const all = async () => {
      round += 1;
      const dies = [undefined, undefined, 'before it stores', undefined, 'before the answer'] as const;
      await read(dies[round % dies.length]).catch((error: Error) => expect(error.name).toBe('AbortError'));
      return new Set(got).size;
    };
    await expect.poll(all, WAIT).toBe(ORDERS);
    await ending;
    const before = got.length;
    await expect
      .poll(async () => (await fixture.orders.ended({ after: stored, limit: 7 })).orders.length, WAIT)
      .toBeLessThan(7);
    // Only what a killed reader did not store comes twice.
    expect(before).toBeLessThan(2 * ORDERS);
  });

  it('shows an order ended from outside as terminated, and not one whose id has a newer run', async () => {
    const account = 'stopped';
    const handles = await Promise.all(
      ['gone', 'reset'].map((id) => fixture.orders.start('withdraw', { ...payout(id), account })),
    );
    const newer = {
      ...orderStartOptions('withdraw', { ...payout('reset'), account }),
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    };
    for (const { workflowId } of handles) await fixture.namespace.client.workflow.getHandle(workflowId).terminate();
    await fixture.namespace.client.workflow.start('withdraw', newer as never);
    const shown = async () => {
      const { orders } = await fixture.orders.ended({ account });
      return orders.map(({ orderId, status, closedAt }) => [orderId, status, closedAt instanceof Date]);
    };
    await expect.poll(shown, WAIT).toEqual([['gone', 'terminated', true]]);
    expect((await fixture.orders.ended({ account, from: new Date(Date.now() + 60_000) })).orders).toEqual([]);
    const { cursor } = await fixture.orders.ended({ account });
    const other = fixture.orders.ended({ after: cursor });
    await expect(other).rejects.toMatchObject({ kind: 'invalidInput', fields: [{ field: 'after' }] });
    await expect(fixture.orders.ended({ after: 'x' })).rejects.toMatchObject({ fields: [{ field: 'after' }] });
    await expect(fixture.orders.ended({ limit: 0 })).rejects.toMatchObject({ fields: [{ field: 'limit' }] });
  });

  it('is served by the API, for the accounts of a key', async () => {
    const account = 'fed';
    const handle = await fixture.orders.start('withdraw', {
      ...payout('api-1'),
      account,
      batchId: 'b-1',
      reference: 'r-1',
    });
    await fixture.namespace.client.workflow.getHandle(handle.workflowId).signal('end');
    const keys = [apiKey('mine', { accounts: [account], verbs: ['read'] }), apiKey('other', { accounts: ['other'] })];
    const { call } = await runApi(fixture.orders, { keys });
    const events = async () => (await call('GET', '/v1/events', undefined, 'mine')).body.events;
    await expect.poll(async () => (await events()).length, WAIT).toBe(1);
    const data = {
      account,
      order_id: 'api-1',
      order_type: 'withdraw',
      outcome: 'terminated',
      batch_id: 'b-1',
      reference: 'r-1',
    };
    expect(await events()).toMatchObject([{ type: 'order.ended', timestamp: expect.any(String), data }]);
    const { cursor } = (await call('GET', '/v1/events', undefined, 'mine')).body;
    expect((await call('GET', `/v1/events?after=${cursor}`, undefined, 'mine')).body.events).toEqual([]);
    expect(await call('GET', `/v1/events?after=${cursor}`, undefined, 'other')).toMatchObject({ status: 422 });
    expect(await call('GET', `/v1/events?account=${account}`, undefined, 'other')).toMatchObject({ status: 403 });
  });

  const counts: number[] = [];
  const page = { token: '', top: 1, fresh: 0, counts };
  it.each<[string, unknown]>([
    ['texts as times', { from: "2020' OR 1=1", start: "x' OR 'a'='a", counts, total: 1 }],
    ['times beyond the calendar', { from: 1e300, start: 1e300, counts }],
    ['no counts', { counts: null }],
    ['a token of another page', { counts, page: { ...page, token: 'anVuaw==' } }],
    ['too many hashes', { counts, page: { ...page, fresh: 1e9 } }],
    ['no JSON', 'abc'],
    ['a number', '5\n'],
    ['null', 'null\n'],
    ['lists as times', { from: [1], start: [1], counts }],
    ['a negative total', { from: 0, start: 0, total: -1, counts: [1, 5] }],
    ['a count without an interval', { counts: [1] }],
    ['half a hash', '{"counts":[]}\nabc'],
  ])('refuses a forged cursor with %s', async (_, forged) => {
    const list = `${orderQuery({ accounts: ['mine'] })} AND ExecutionStatus NOT IN ('Running', 'ContinuedAsNew')`;
    const after = cursorOf(Buffer.from(typeof forged === 'string' ? forged : `${JSON.stringify(forged)}\n`), list);
    vi.stubEnv('TEMPORAL_ADDRESS', fixture.namespace.address);
    vi.stubEnv('TEMPORAL_NAMESPACE', fixture.namespace.namespace);
    const { client, close } = await connectTemporal();
    onTestFinished(close);
    const began = performance.now();
    const ended = new PaymentOrders(client).ended({ after, accounts: ['mine'] });
    await expect(ended).rejects.toMatchObject({ kind: 'invalidInput', fields: [{ field: 'after' }] });
    // The SDK would repeat a request that Temporal cannot read for 20 s.
    expect(performance.now() - began).toBeLessThan(3_000);
  });

  it('goes on if the accounts come in another order', async () => {
    const { cursor } = await fixture.orders.ended({ accounts: ['a', 'b'] });
    await expect(fixture.orders.ended({ accounts: ['b', 'a'], after: cursor })).resolves.toBeDefined();
  });
});
