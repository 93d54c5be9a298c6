import { ApplicationFailureCategory } from '@temporalio/common';
import { describe, expect, test } from 'vitest';
import type { LookUpInput } from '../../../src/contract/order/activities.js';
import { accountId, type Witness } from '../../../src/contract/order/sent-to.js';
import { orderObject } from '../../payment-service/objects.fixture.js';
import { answer, startServer } from '../../payment-service/server.fixture.js';
import { orderInput } from '../../support/inputs.js';
import {
  activitiesFor,
  attemptOf,
  ELSEWHERE,
  failureOf,
  isAskedAgain,
  openActivities,
  operations,
  PACE,
  type RunActivity,
  UNCLEAR_FAULTS,
} from '../activity-lab.fixture.js';

const lookUpOf = (changes: Partial<LookUpInput> = {}): LookUpInput => ({
  type: 'withdraw',
  account: 'default',
  request: orderInput('withdraw', 'w-1').order,
  ...changes,
});

/** The order that `lookUpOf` asks for, as the service shows it. */
const orderOf = (orderUuid: string) =>
  orderObject({ order_uuid: orderUuid, expected_amount_from: '12.50', expected_amount_to: '12.50' });

/** Brings an order into being; `marker` steers what look-ups will see. */
async function create(run: RunActivity, marker = 'after_ms=1000000', orderId = 'w-1'): Promise<void> {
  await run('createOrder', attemptOf('withdraw', orderInput('withdraw', orderId, { marker })));
}

/** Looks up and says which operations that took. */
async function lookUp(lab: Awaited<ReturnType<typeof openActivities>>, changes: Partial<LookUpInput> = {}) {
  const before = operations(lab.sandbox).length;
  const answer = await lab.run('lookUpOrder', lookUpOf(changes));
  return { answer, asked: operations(lab.sandbox).slice(before) };
}

describe('a look-up by order id', () => {
  test('finds the order in the list alone, with its circumstances', async () => {
    const lab = await openActivities();
    await create(lab.run);
    const { answer, asked } = await lookUp(lab);
    expect(answer).toMatchObject({
      kind: 'found',
      differences: [],
      order: { user_order_id: 'w-1', status: 'processing' },
      pace: PACE,
      sentTo: lab.sentTo,
      payers: { to: 'merchant' },
    });
    expect(answer).not.toHaveProperty('order.balance_changes');
    // The second one shows that the first showed all.
    expect(asked).toEqual(['list', 'list']);
  });

  test('says that absence does not count soon after Temporal was restored, and no longer after the settle window', async () => {
    const restoredAtMs = Date.now() - PACE.settleWindowMs.atOnce;
    const { run } = await openActivities({}, { restoredAtMs });
    const soon = await run('lookUpOrder', lookUpOf(), { scheduledMs: Date.now() - 5_000 });
    expect(soon).toMatchObject({ kind: 'absent', restoredAtMs });
    const later = await run('lookUpOrder', lookUpOf(), { scheduledMs: Date.now() });
    expect(later).not.toHaveProperty('restoredAtMs');
  });

  test('absence is believed by an order that was sent a fifth of the window later, not by one sent sooner', async () => {
    const windowMs = PACE.settleWindowMs.atOnce;
    let nowMs = Date.now();
    const { run } = await openActivities({}, { nowMs: async () => nowMs });
    await create(run, 'after_ms=1000000', 'w-9');
    const sentAtMs = nowMs;
    nowMs += windowMs;
    const readFor = (sentUntilMs: number) => run('lookUpOrder', lookUpOf({ sentUntilMs }), { scheduledMs: nowMs });
    expect(await readFor(sentAtMs - 0.3 * windowMs)).toMatchObject({ control: { whole: true, later: true } });
    expect(await readFor(sentAtMs - 0.1 * windowMs)).toMatchObject({ kind: 'absent', control: { whole: true } });
    expect(await readFor(sentAtMs - 0.1 * windowMs)).not.toHaveProperty('control.later');
  });

  test('finds an order that only the status operation shows yet', async () => {
    const lab = await openActivities();
    await create(lab.run, 'list_lag_ms=100000');
    const { answer, asked } = await lookUp(lab);
    expect(answer).toMatchObject({ kind: 'found', differences: [] });
    expect(asked).toEqual(['list', 'status']);
  });

  test.for([...UNCLEAR_FAULTS, '400', '404', 'status-error', 'malformed', 'crossed', 'oversized'])(
    'finds an order that the status shows, whatever the list does: %s',
    async (fault) => {
      const lab = await openActivities();
      await create(lab.run, `after_ms=1000000 list=${fault} list_times=all`);
      const { answer, asked } = await lookUp(lab);
      expect(answer).toMatchObject({ kind: 'found', differences: [], order: { user_order_id: 'w-1' } });
      expect(asked).toEqual(['list', 'status']);
    },
  );

  test('finds an order that the list shows beside others, its filter ignored', async () => {
    const lab = await openActivities();
    await create(lab.run);
    await create(lab.run, 'after_ms=0', 'another');
    lab.sandbox.set({ faults: { 'list.ignore-filter': 1 } });
    const { answer, asked } = await lookUp(lab);
    expect(answer).toMatchObject({ kind: 'found', differences: [], order: { user_order_id: 'w-1' } });
    expect(asked).toEqual(['list']);
  });

  test('says what is shown in another form', async () => {
    const lab = await openActivities();
    await create(lab.run, 'after_ms=1000000 list=echo-masked');
    const { answer } = await lookUp(lab);
    expect(answer).toMatchObject({ kind: 'found', differences: [], soft: ['wallet'] });
  });

  test('names all orders where there are several', async () => {
    const lab = await openActivities({ duplicateMode: 'c', faults: { 'list.unseen': 1 } });
    await create(lab.run);
    await create(lab.run);
    lab.sandbox.set({ faults: {} });
    const { answer } = await lookUp(lab);
    expect(answer).toMatchObject({ kind: 'duplicates', orderUuids: { length: 2 }, ours: { length: 2 } });
  });

  test.for([1, 2, 10])('names all orders where the service shows %i on a page', async (listAtMost) => {
    const lab = await openActivities({ duplicateMode: 'c', faults: { 'list.unseen': 1 } });
    for (let n = 0; n < 3; n += 1) await create(lab.run);
    lab.sandbox.set({ faults: {}, listAtMost });
    const { answer } = await lookUp(lab);
    expect(answer).toMatchObject({ kind: 'duplicates', orderUuids: { length: 3 }, ours: { length: 3 } });
  });

  test('finds ours beside an order of somebody else that the list alone shows', async () => {
    const [foreign, ours] = ['uuid-foreign', 'uuid-ours'].map((uuid) => orderOf(uuid));
    const { baseUrl, received } = await startServer((response, { path }) =>
      path.endsWith('/list')
        ? answer(response, [{ ...foreign, expected_amount_from: '99', expected_amount_to: '99', balance_changes: [] }])
        : answer(response, path.endsWith('/status') ? ours : {}),
    );
    const run = await activitiesFor({ baseUrl });
    const reading = await run('lookUpOrder', lookUpOf());
    expect(reading).toMatchObject({
      kind: 'duplicates',
      orderUuids: ['uuid-foreign', 'uuid-ours'],
      ours: ['uuid-ours'],
    });
    expect(received.map(({ path }) => path.split('/').at(-1)).slice(0, 3)).toEqual(['list', 'list', 'status']);
  });

  test('of an id that only somebody else has asks the status, too, before it says what differs', async () => {
    const lab = await openActivities();
    await create(lab.run);
    const request = { ...lookUpOf().request, amount: '13', wallet: '5555555555554444' };
    const { answer, asked } = await lookUp(lab, { request });
    expect(answer).toMatchObject({ kind: 'found', differences: ['wallet', 'amount'] });
    expect(asked).toEqual(['list', 'list', 'status']);
  });

  test.for([
    ['a', 'HTTP 400: order not found'],
    ['b', 'HTTP 404: order not found'],
    ['c', 'HTTP 200: {"status":"error"}'],
    ['d', 'HTTP 200: {"status":"success","data":null}'],
    ['e', 'HTTP 200: {"status":"success","data":[]}'],
  ] as const)('is absent when the list is empty and the status answers %s (%s)', async ([unknownMode, said]) => {
    const lab = await openActivities({ unknownMode });
    const { answer, asked } = await lookUp(lab);
    expect(answer).toMatchObject({ kind: 'absent', said });
    expect(asked).toEqual(['list', 'status']);
  });
});

describe('no reading', () => {
  test.for([...UNCLEAR_FAULTS, '400', '404', 'status-error'])(
    'a list that answers %s, and a status that knows no order: absence needs both',
    async (fault) => {
      const { sandbox, run } = await openActivities({ faults: { [`list.${fault}`]: 1 } });
      const failure = await failureOf(run('lookUpOrder', lookUpOf()));
      expect(isAskedAgain(failure)).toBe(true);
      expect(operations(sandbox)).toEqual(['list', 'status']);
    },
  );

  test('too many requests at the list: the status would be refused, too, and is not asked', async () => {
    const { sandbox, run } = await openActivities({ faults: { 'list.429': 1 } });
    expect(await failureOf(run('lookUpOrder', lookUpOf()))).toMatchObject({ type: 'RateLimitedError' });
    expect(operations(sandbox)).toEqual(['list']);
  });

  test('an unclear list, and a status that shows somebody else’s order under our id', async () => {
    const lab = await openActivities();
    await create(lab.run, 'list=malformed');
    const request = { ...lookUpOf().request, amount: '13' };
    expect(await failureOf(lab.run('lookUpOrder', lookUpOf({ request })))).toMatchObject({ type: 'NoReading' });
  });

  test.for(UNCLEAR_FAULTS)('an empty list and a status that answers %s', async (fault) => {
    // Unknown orders are answered with 200 here: half of a 400 is a 400 all the same.
    const { sandbox, run } = await openActivities({ unknownMode: 'd', faults: { [`status.${fault}`]: 1 } });
    const failure = await failureOf(run('lookUpOrder', lookUpOf()));
    expect(isAskedAgain(failure)).toBe(true);
    expect(operations(sandbox)).toEqual(['list', 'status']);
  });

  test.for([
    ['list.429-huge', 60_000],
    ['status.429', 1_000],
  ] as const)('%s: is repeated after %i ms', async ([fault, nextRetryDelay]) => {
    const { run } = await openActivities({ faults: { [fault]: 1 } });
    const failure = await failureOf(run('lookUpOrder', lookUpOf()));
    expect(failure).toMatchObject({ type: 'RateLimitedError', nextRetryDelay });
  });

  test('a list whose filter was ignored', async () => {
    const { sandbox, run } = await openActivities();
    await create(run, 'after_ms=0', 'another');
    sandbox.set({ faults: { 'list.ignore-filter': 1 } });
    expect(await failureOf(run('lookUpOrder', lookUpOf()))).toMatchObject({ type: 'NoReading' });
  });

  test.for(['list', 'status'] as const)('another order from the %s operation', async (place) => {
    const lab = await openActivities();
    const other = place === 'status' ? 'list' : 'status';
    await create(lab.run, `${place}=crossed ${place}_times=all ${other}=unseen`);
    const type = place === 'list' ? 'NoReading' : 'MalformedResponseError';
    expect(await failureOf(lab.run('lookUpOrder', lookUpOf()))).toMatchObject({ type });
  });

  // An order in doubt that waits for a later one, perhaps while a person is asked, learns of it, too.
  const ASKING = [{}, { awaits: 'later', sentUntilMs: Date.now() }] as const;
  test.for(ASKING)(
    'another endpoint than the order was sent to (%j): it is not even asked, told once, then asked again',
    async (asking) => {
      const { sandbox, run, sentTo } = await openActivities();
      const told = await run('lookUpOrder', lookUpOf({ ...asking, sentTo: ELSEWHERE }));
      const why = expect.stringContaining(sentTo.account);
      expect(told).toMatchObject({ kind: 'elsewhere', why, here: sentTo });
      const again = { ...asking, sentTo: ELSEWHERE, told: 'why' in told ? told.why : '' };
      const failure = await failureOf(run('lookUpOrder', lookUpOf(again)));
      expect(failure).toMatchObject({ type: 'Elsewhere', message: why });
      expect(isAskedAgain(failure)).toBe(true);
      expect(sandbox.requests()).toEqual([]);
      expect(await run('lookUpOrder', lookUpOf({ ...again, sentTo }))).toMatchObject({ kind: 'absent' });
    },
  );
});

test('a look-up that waits for what is hidden is answered once it is shown, and by nobody who knows of none', async () => {
  const { sandbox, run, sentTo } = await openActivities();
  await create(run, '', 'another');
  const shown = { order_id: 'another', order_uuid: sandbox.orders()[0]?.order.order_uuid ?? '' };
  const asked = (witness?: Witness, awaits: 'whole' | 'later' = 'whole') =>
    lookUpOf({ awaits, sentUntilMs: Date.now(), sentTo: { ...sentTo, ...(witness && { witness }) } });
  const hidden = { ...shown, order_uuid: '4994f899-3d4e-4837-845e-268344ef673f' };
  // Nobody is there who could go first.
  const workflow = { getHandle: () => ({ signal: async () => undefined }) };
  const client = { workflow, withAbortSignal: (_: unknown, call: () => unknown) => call() } as never;
  for (const input of [asked(), asked(hidden), asked(shown, 'later')])
    expect(isAskedAgain(await failureOf(run('lookUpOrder', input, { client })))).toBe(true);
  const answer = await run('lookUpOrder', asked(shown), { client });
  expect(answer).toMatchObject({ kind: 'absent', control: { whole: true } });
});

test('a look-up reads with the successor of the pinned key', async () => {
  const { sandbox, run } = await openActivities({}, { predecessors: ['aaaaaaaaaaaaaaaa'] });
  const sentTo = { account: accountId(sandbox.url, 'aaaaaaaaaaaaaaaa') };
  expect(await run('lookUpOrder', lookUpOf({ sentTo }))).toMatchObject({ kind: 'absent' });
});

test('a look-up that is to wait first asks nothing at its first attempt, and sets the delay', async () => {
  const { sandbox, run } = await openActivities();
  const failure = await failureOf(run('lookUpOrder', lookUpOf({ delayMs: 30_000 })));
  expect(failure).toMatchObject({ nextRetryDelay: 30_000, category: ApplicationFailureCategory.BENIGN });
  expect(isAskedAgain(failure)).toBe(true);
  expect(sandbox.requests()).toEqual([]);
  expect((await run('lookUpOrder', lookUpOf({ delayMs: 30_000 }), { attempt: 2 })).kind).toBe('absent');
});

describe('a look-up by order_uuid', () => {
  const uuidOf = ({ sandbox }: Awaited<ReturnType<typeof openActivities>>) =>
    sandbox.orders()[0]?.order.order_uuid ?? '';

  test('asks the status alone', async () => {
    const lab = await openActivities();
    await create(lab.run);
    const { answer, asked } = await lookUp(lab, { orderUuid: uuidOf(lab) });
    expect(answer).toMatchObject({ kind: 'found', differences: [], order: { order_uuid: uuidOf(lab) } });
    expect(asked).toEqual(['status']);
  });

  test('of an order that the service does not show is absent', async () => {
    const lab = await openActivities();
    const { answer } = await lookUp(lab, { orderUuid: '3f0c8c2e-5b8e-4f0e-9d6a-000000000001' });
    expect(answer.kind).toBe('absent');
  });

  test.for(['a', 'b', 'c', 'd', 'e'] as const)(
    'that was seen before, and is not shown now (unknownMode %s): is no reading',
    async (unknownMode) => {
      const lab = await openActivities({ unknownMode });
      await create(lab.run, 'status=unseen');
      const look = lab.run('lookUpOrder', lookUpOf({ orderUuid: uuidOf(lab), known: true }));
      const failure = await failureOf(look);
      expect(failure).toMatchObject({ type: 'NoReading', message: expect.stringMatching(/HTTP (200|400|404): /) });
      expect(isAskedAgain(failure)).toBe(true);
    },
  );

  test('answered with another order is no reading', async () => {
    const lab = await openActivities();
    await create(lab.run, 'status=crossed status_times=all');
    const look = lab.run('lookUpOrder', lookUpOf({ orderUuid: uuidOf(lab) }));
    expect(await failureOf(look)).toMatchObject({ type: 'MalformedResponseError' });
  });

  test('of another payment names what differs', async () => {
    const lab = await openActivities();
    await create(lab.run, 'after_ms=0', 'another');
    const { answer } = await lookUp(lab, { orderUuid: uuidOf(lab) });
    expect(answer).toMatchObject({ kind: 'found', differences: ['order_id'] });
  });
});
