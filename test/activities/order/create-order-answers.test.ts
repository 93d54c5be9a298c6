import { createServer } from 'node:http';
import { describe, expect, test } from 'vitest';
import { answer, listen, startServer } from '../../payment-service/server.fixture.js';
import { orderInput } from '../../support/inputs.js';
import { activitiesFor, attemptOf, openActivities, operations, UNCLEAR_FAULTS } from '../activity-lab.fixture.js';

const marked = (marker: string) => attemptOf('withdraw', orderInput('withdraw', 'w-1', { marker }));

describe('a probe without a clear answer', () => {
  test.for([...UNCLEAR_FAULTS, '400', '404', 'status-error', 'oversized'])('%s: nothing is sent', async (fault) => {
    const { sandbox, run } = await openActivities({ faults: { [`list.${fault}`]: 1 } });
    const verdict = await run('createOrder', attemptOf('withdraw'));
    expect(verdict).toMatchObject({ kind: 'notSent', reason: expect.stringContaining('probe') });
    expect(operations(sandbox)).toEqual(['list']);
  });

  test('no answer at all: nothing is sent', async () => {
    const { baseUrl, received } = await startServer((response, { path }) => {
      if (path.endsWith('/rates')) answer(response, 'down', 500);
    });
    const run = await activitiesFor({ baseUrl }, { requestTimeoutMs: 1_000 });
    expect(await run('createOrder', attemptOf('withdraw'))).toMatchObject({ kind: 'notSent' });
    expect(received.map(({ path }) => path)).toEqual(['/v2/rates', '/v2/order/list']);
  });

  test('a filter that was ignored: nothing is sent', async () => {
    const { sandbox, run } = await openActivities();
    await run('createOrder', attemptOf('withdraw', orderInput('withdraw', 'another')));
    sandbox.set({ faults: { 'list.ignore-filter': 1 } });
    const verdict = await run('createOrder', attemptOf('withdraw'));
    expect(verdict).toMatchObject({ kind: 'notSent', reason: expect.stringContaining('filter') });
    expect(sandbox.stats().createsByOrderId).toEqual({ another: 1 });
  });

  const UNREADABLE = 'list=missing-field list_times=all field=status';

  test('an item of our id that cannot be read, and a status that shows our order: it is adopted', async () => {
    const { sandbox, run } = await openActivities();
    await run('createOrder', marked(UNREADABLE));
    expect(await run('createOrder', marked(UNREADABLE))).toMatchObject({ kind: 'adopted' });
    expect(operations(sandbox)).toEqual(['list', 'create', 'list', 'status']);
  });

  test.for(['unseen', 'other-wallet', '500'])(
    'an item of our id that cannot be read, and a status that answers %s: nothing is sent',
    async (fault) => {
      const { sandbox, run } = await openActivities();
      const marker = `${UNREADABLE} status=${fault} status_times=all`;
      await run('createOrder', marked(marker));
      expect(await run('createOrder', marked(marker))).toMatchObject({ kind: 'notSent' });
      expect(sandbox.stats().createsByOrderId['w-1']).toBe(1);
    },
  );

  test('429: is rate limited and not sent', async () => {
    const { sandbox, run } = await openActivities({ faults: { 'list.429-huge': 1 } });
    expect(await run('createOrder', attemptOf('withdraw'))).toMatchObject({
      kind: 'rateLimited',
      retryAfterMs: 60_000,
    });
    expect(operations(sandbox)).toEqual(['list']);
  });
});

describe('the answer to a create', () => {
  const UNCERTAIN = [
    ...UNCLEAR_FAULTS.flatMap((fault) => [`${fault}-before`, `${fault}-after`]),
    ...['404', '409', '410', '413', '422', '307'],
    ...['status-error', 'crossed', 'missing-field', 'oversized'],
  ];

  test.for(UNCERTAIN)('%s: is uncertain, sent once, and names no wallet', async (fault) => {
    const { sandbox, run } = await openActivities();
    const verdict = await run('createOrder', marked(`create=${fault}`));
    expect(verdict.kind).toBe('uncertain');
    expect(verdict).not.toHaveProperty('reset');
    expect(sandbox.stats()).toMatchObject({ createsByOrderId: { 'w-1': 1 }, redirectHits: 0 });
    // What differs in the id alone has our own wallet.
    expect(JSON.stringify({ ...verdict, named: undefined })).not.toContain('4111111111111111');
  });

  test.for([
    ['other-amount', 'amount'],
    ['other-wallet', 'wallet'],
  ])('with our id on another order (%s): is uncertain, and names that order', async ([fault, field]) => {
    const { run } = await openActivities();
    const verdict = await run('createOrder', marked(`create=${fault}`));
    const named = { order: { user_order_id: 'w-1' }, differences: [expect.stringContaining(field ?? '')] };
    expect(verdict).toMatchObject({ kind: 'uncertain', named });
  });

  test('none within the time limit: is uncertain', async () => {
    const { baseUrl, received } = await startServer((response, { path }) => {
      if (!path.endsWith('/withdraw')) answer(response, path.endsWith('/list') ? [] : {});
    });
    const run = await activitiesFor({ baseUrl }, { requestTimeoutMs: 1_000 });
    // Rates without any pair would refuse the order; an order sent before is not checked against them.
    const attempt = attemptOf('withdraw', undefined, { permission: 'absent' });
    expect(await run('createOrder', attempt)).toMatchObject({ kind: 'uncertain' });
    expect(received.filter(({ path }) => path.endsWith('/withdraw'))).toHaveLength(1);
  });

  test.for(['400', '400-after'])('%s: is rejected', async (fault) => {
    const { run } = await openActivities();
    const verdict = { kind: 'rejected', excerpt: 'injected by the sandbox' };
    expect(await run('createOrder', marked(`create=${fault}`))).toMatchObject(verdict);
  });

  test.for([
    ['429', 1_000],
    ['429 retry_after=7', 7_000],
    ['429-huge', 60_000],
    ['429-garbage', 5_000],
  ] as const)('%s: is uncertain, and not to be repeated for %i ms', async ([fault, retryAfterMs]) => {
    const { run } = await openActivities();
    expect(await run('createOrder', marked(`create=${fault}`))).toMatchObject({ kind: 'uncertain', retryAfterMs });
  });

  test.for([
    ['429 retry_after=7', { kind: 'rateLimited', retryAfterMs: 7_000 }],
    ['503-before', { kind: 'notSent', reason: expect.stringContaining('HTTP 503') }],
    // Not named, so it proves nothing.
    ['502-before', { kind: 'uncertain' }],
    ['400', { kind: 'rejected' }],
  ] as const)('%s, where the service guarantees that 429 and 503 are never executed', async ([fault, verdict]) => {
    const { run } = await openActivities({}, { notExecutedStatuses: [429, 503] });
    expect(await run('createOrder', marked(`create=${fault}`))).toMatchObject(verdict);
  });

  test('of our order in another form: is accepted, and says which fields', async () => {
    const { run } = await openActivities();
    const answered = await run('createOrder', marked('create=echo-masked'));
    expect(answered).toMatchObject({ kind: 'accepted', soft: ['wallet'] });
  });

  test.for(['extra-fields', 'unknown-status'])('%s: is accepted', async (fault) => {
    const { run } = await openActivities();
    expect(await run('createOrder', marked(`create=${fault}`))).toMatchObject({ kind: 'accepted' });
  });
});

test('a connection refused between probe and create: is not sent', async () => {
  const server = createServer((request, response) => {
    const isProbe = request.url?.endsWith('/list');
    answer(response, isProbe ? [] : 'down', isProbe ? 200 : 500);
    if (isProbe) server.close();
  });
  const baseUrl = `http://127.0.0.1:${await listen(server)}`;
  const run = await activitiesFor({ baseUrl });
  const verdict = await run('createOrder', attemptOf('withdraw'));
  expect(verdict).toMatchObject({ kind: 'notSent', reason: expect.stringContaining('ECONNREFUSED') });
});
