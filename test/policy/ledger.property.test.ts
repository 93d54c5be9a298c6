import fc from 'fast-check';
import { expect, test } from 'vitest';
import { judge, openLedger, reserveOrder, type Spend, settle, totalOf } from '../../src/contract/policy/ledger.js';
import { prune } from '../../src/contract/policy/prune.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START_MS = Date.UTC(2026, 10, 27);
const KEYS = ['usd', 'eur', 'usd payee-a', '# payee-a'];

const IN_DOUBT = -100;

/** Whole cents, so that the independent sums are exact integers. */
const cents = fc.integer({ min: 1, max: 5_000 });
const asText = (value: number): string => (value / 100).toFixed(2);

/** Often none, so that orders share an hour, which becomes a part of a day; or about 30 days. */
const times = fc.oneof(
  fc.constant(0),
  fc.integer({ min: 0, max: HOUR_MS }),
  fc.integer({ min: 0, max: 9 * DAY_MS }),
  fc.integer({ min: 30 * DAY_MS, max: 31 * DAY_MS }),
);

const steps = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('ask' as const),
        order: fc.integer({ min: 0, max: 9 }),
        keys: fc.uniqueArray(fc.constantFrom(...KEYS), { minLength: 1, maxLength: 3 }),
        amount: cents,
        afterMs: times,
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('end' as const),
        order: fc.integer({ min: 0, max: 9 }),
        /** Executed part in percent; -100: in doubt, which counts in full. */
        part: fc.constantFrom(IN_DOUBT, 0, 50, 100),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('next run' as const) }) },
  ),
  { maxLength: 60, size: 'max' },
);

/** Order as the independent sum keeps it: when it was asked for last, and what counts of it in cents. */
interface Counted {
  atMs: number;
  spends: Map<string, number>;
}

/** Sum of a key in cents, by adding up every single order. */
const independentSum = (orders: Iterable<Counted>, key: string, sinceMs: number): number =>
  [...orders].reduce((sum, { atMs, spends }) => sum + (atMs > sinceMs ? (spends.get(key) ?? 0) : 0), 0);

const PERIODS = [
  { windowMs: DAY_MS, slackMs: HOUR_MS },
  { windowMs: 30 * DAY_MS, slackMs: DAY_MS + HOUR_MS },
];

type Step = typeof steps extends fc.Arbitrary<(infer S)[]> ? S : never;
type Asking = Extract<Step, { kind: 'ask' }>;
type Ending = Extract<Step, { kind: 'end' }>;

/** The ledger beside the independent sum. An id may be used again after the end of its order. */
class World {
  ledger = openLedger();
  nowMs = START_MS;
  readonly open = new Map<string, Counted>();
  readonly ended: Counted[] = [];

  constructor(readonly max: number) {}

  step(step: Step): void {
    if (step.kind === 'ask') this.#ask(step);
    else if (step.kind === 'end') this.#end(step);
    else this.ledger = JSON.parse(JSON.stringify(prune(this.ledger, this.nowMs))) as typeof this.ledger;
    for (const key of KEYS)
      for (const { windowMs, slackMs } of PERIODS) {
        const total = Math.round(Number(totalOf(this.ledger, key, this.nowMs - windowMs)) * 100);
        const sumSince = (sinceMs: number) => independentSum([...this.ended, ...this.open.values()], key, sinceMs);
        expect(total).toBeGreaterThanOrEqual(sumSince(this.nowMs - windowMs));
        expect(total).toBeLessThanOrEqual(sumSince(this.nowMs - windowMs - slackMs));
      }
  }

  #end({ order, part }: Ending): void {
    const orderId = `o${order}`;
    const counted = this.open.get(orderId);
    if (!counted) return;
    const executed = [...counted.spends].map(
      ([key, value]) => [key, Math.floor((value * Math.abs(part)) / 100)] as const,
    );
    const spends = executed.filter(([, value]) => value > 0);
    const known = { spends: spends.map(([key, value]): Spend => [key, asText(value)]) };
    settle(this.ledger, { orderId, ...(part !== IN_DOUBT && known) });
    this.open.delete(orderId);
    this.ended.push({ atMs: counted.atMs, spends: new Map(spends) });
  }

  #ask({ order, keys, amount, afterMs }: Asking): void {
    this.nowMs += afterMs;
    const orderId = `o${order}`;
    const max = asText(this.max);
    const limits = keys.flatMap((key) => PERIODS.map(({ windowMs }) => ({ key, windowMs, max })));
    const spends = keys.map((key): Spend => [key, asText(amount)]);
    const failed = judge(this.ledger, { orderId, spends, limits, reserve: true }, this.nowMs);
    // A repeated question replaces the earlier one of its order.
    const others = [...this.ended, ...[...this.open].flatMap(([id, one]) => (id === orderId ? [] : [one]))];
    const withIt = (key: string, sinceMs: number) => independentSum(others, key, sinceMs) + amount;
    for (const { index } of failed) {
      const { windowMs = 0, slackMs = 0 } = PERIODS[index % PERIODS.length] ?? {};
      const key = keys[Math.floor(index / PERIODS.length)] ?? '';
      expect(withIt(key, this.nowMs - windowMs - slackMs)).toBeGreaterThan(this.max);
    }
    // What it was allowed before still counts: its order may exist.
    if (failed.length > 0) return;
    for (const key of keys)
      for (const { windowMs } of PERIODS) expect(withIt(key, this.nowMs - windowMs)).toBeLessThanOrEqual(this.max);
    this.open.set(orderId, { atMs: this.nowMs, spends: new Map(keys.map((key) => [key, amount])) });
  }
}

test('no allowed order exceeds a sum, and none is held back by more than the rounding to hours and days', () => {
  fc.assert(
    fc.property(steps, fc.integer({ min: 1_000, max: 20_000 }), (all, max) => {
      const world = new World(max);
      for (const step of all) world.step(step);
    }),
    { numRuns: 300 },
  );
});

test('payouts of others are compared within the days, and what the next run drops is reported', () => {
  const ledger = openLedger();
  const pay = (orderId: string, atMs: number, same = 'payee:5:usd') => {
    reserveOrder(ledger, orderId, [[`= ${same} ${orderId}`, '1']], atMs);
    settle(ledger, { orderId });
  };
  const made = (of = ledger, orderId = '') =>
    judge(
      of,
      { orderId, spends: [], limits: [{ same: ['payee:5:usd'], windowMs: 7 * DAY_MS }], reserve: false },
      START_MS,
    );
  pay('old', START_MS - 8 * DAY_MS);
  expect(made()).toEqual([]);
  pay('a', START_MS - 6 * DAY_MS);
  pay('b.r1', START_MS);
  const [a, b] = [
    ['payee:5:usd', 'a', START_MS - 6 * DAY_MS],
    ['payee:5:usd', 'b.r1', START_MS],
  ];
  expect(made()).toEqual([{ index: 0, made: [b, a] }]);
  expect(made(ledger, 'b')).toEqual([{ index: 0, made: [a] }]);
  expect(made(prune(ledger, START_MS))).toMatchObject([{ made: [b, ['payee:5:usd', 'a', expect.any(Number)]] }]);
  for (let n = 0; n < 4_000; n += 1) pay(`${n}`.padEnd(100, 'x'), START_MS - n * 1_000, 'other:5:usd');
  const [pruned] = made(prune(ledger, START_MS));
  expect(pruned?.lostUntilMs).toBeGreaterThan(START_MS - 6 * DAY_MS);
  expect(pruned?.made).toEqual([b]);
});

test('the next run fits into an event, whatever ids and payees it has to keep', () => {
  const ledger = openLedger();
  const name = (of: string, n: number, length: number) => `${of}${n}`.padEnd(length, 'x');
  const some = (count: number, key: (n: number) => string, amount: string): Spend[] =>
    Array.from({ length: count }, (_, n) => [key(n), amount]);
  const pay = (orderId: string, spends: Spend[], atMs: number, isOpen = false) => {
    reserveOrder(ledger, orderId, spends, atMs);
    if (!isOpen) settle(ledger, { orderId, spends });
  };
  const long = '9'.repeat(12).concat('.', '9'.repeat(18));
  for (let hour = 0; hour < 60; hour += 1)
    pay(
      'currencies',
      some(40, (n) => name('currency', n, 16), long),
      START_MS - hour * HOUR_MS,
    );
  for (let day = 0; day < 3; day += 1)
    pay(
      'payees',
      some(12_000, (n) => `${name('c', n, 16)} ${name('p', n, 16)}`, long),
      START_MS - day * DAY_MS,
    );
  pay(
    'paid',
    some(12_000, (n) => `# ${name('q', n, 16)}`, '1'),
    START_MS,
  );
  pay(
    'compared',
    some(6_000, (n) => `= payee:${long}:usd ${name('o', n, 120)}`, '1'),
    START_MS,
  );
  for (let n = 0; n < 60; n += 1)
    pay(
      name('open', n, 120),
      some(200, (card) => `${name('c', n, 16)} ${name('p', card, 16)}`, long),
      START_MS,
      true,
    );
  const pruned = prune(ledger, START_MS);
  const bytes = Buffer.byteLength(JSON.stringify({ account: 'default', ledger: pruned }));
  expect(bytes).toBeLessThan(2 * 1_024 * 1_024 - 50_000);
  expect(bytes).toBeGreaterThan(1_700_000);
  expect(Object.keys(pruned.open).length).toBeGreaterThan(20);
  expect(pruned).toMatchObject({ payeesLostUntilMs: expect.any(Number), payoutsLostUntilMs: expect.any(Number) });
});

test('an order that was allowed counts until its end, although it may not be sent again', () => {
  const ledger = openLedger();
  const limits = (max: string) => [{ key: 'usd', windowMs: DAY_MS, max }];
  const ask = (orderId: string, amount: string, max = '100') =>
    judge(ledger, { orderId, spends: [['usd', amount]], limits: limits(max), reserve: true }, START_MS);
  expect(ask('a', '60')).toEqual([]);
  // The estimate has grown. The first create may be shown by the probe that follows.
  expect(ask('a', '101')).toEqual([{ index: 0, total: '101' }]);
  expect(ask('b', '41')).toEqual([{ index: 0, total: '101' }]);
  expect(ask('b', '40')).toEqual([]);
});

test('an order that asks twice counts once, and one in doubt counts in full', () => {
  const ledger = openLedger();
  const question = (orderId: string) => ({
    orderId,
    spends: [['usd', '60']] as const,
    limits: [{ key: 'usd', windowMs: DAY_MS, max: '100' }],
    reserve: true,
  });
  expect(judge(ledger, question('a'), START_MS)).toEqual([]);
  expect(judge(ledger, question('a'), START_MS + 1)).toEqual([]);
  expect(judge(ledger, question('b'), START_MS + 2)).toEqual([{ index: 0, total: '120' }]);
  settle(ledger, { orderId: 'a' });
  expect(judge(ledger, question('b'), START_MS + 3)).toEqual([{ index: 0, total: '120' }]);
  expect(judge(ledger, question('b'), START_MS + 25 * HOUR_MS)).toEqual([]);
});

test.each([25, 27, 40, 49, 80])(
  'a sum of a day that passed %i hours ago is not spent again after the next run began',
  (hours) => {
    const ledger = openLedger();
    const limits = [{ key: 'usd', windowMs: DAY_MS, max: '1000' }];
    const ask = { orderId: 'a', spends: [['usd', '1000']] satisfies Spend[], limits, reserve: true };
    expect(judge(ledger, ask, START_MS)).toEqual([]);
    settle(ledger, { orderId: 'a', spends: ask.spends });
    const nowMs = START_MS + hours * HOUR_MS;
    expect(judge(prune(ledger, nowMs), { ...ask, orderId: 'b', reserve: false }, nowMs)).toEqual([]);
  },
);
