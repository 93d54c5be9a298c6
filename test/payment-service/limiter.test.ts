import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Limiter, type RequestKind } from '../../src/payment-service/limiter.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  vi.advanceTimersByTime(1_000);
});
afterEach(() => {
  vi.useRealTimers();
});

/** Asks for turns and notes, in ms from now on, who got one when. */
function recorder(limiter: Limiter) {
  const begunMs = performance.now();
  const turns: { name: string; atMs: number }[] = [];
  const ask = (kind: RequestKind, name: string = kind, priority?: number) =>
    limiter.turn(kind, { priority }).then(
      () => turns.push({ name, atMs: performance.now() - begunMs }),
      (error: Error) => turns.push({ name: error.message, atMs: performance.now() - begunMs }),
    );
  return { ask, turns, names: () => turns.map(({ name }) => name), times: () => turns.map(({ atMs }) => atMs) };
}

const sleepFake = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

const times = <T>(count: number, act: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => act(i));

describe('turns', () => {
  test('are evenly spaced, after an idle time too, but for 50 ms that a late one may be made up for', async () => {
    const { ask, times: at } = recorder(new Limiter(10));
    times(4, () => ask('look-up'));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(at()).toEqual([0, 50, 150, 250]);
    times(3, () => ask('look-up'));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(at().slice(4)).toEqual([1_000, 1_050, 1_150]);
  });

  test('come at once without a limit', async () => {
    const { ask, turns } = recorder(new Limiter());
    await Promise.all(times(50, () => ask('create')));
    expect(turns).toHaveLength(50);
  });

  test('of look-ups and creates alternate while both wait', async () => {
    const { ask, names } = recorder(new Limiter(10));
    times(4, () => ask('create'));
    times(4, () => ask('look-up'));
    await vi.advanceTimersByTimeAsync(2_000);
    expect(names().slice(1)).toEqual(['look-up', 'create', 'look-up', 'create', 'look-up', 'create', 'look-up']);
  });

  test('of reads for callers are a tenth while ours wait, however often they ask, and all otherwise', async () => {
    const { ask, names } = recorder(new Limiter(10));
    times(100, () => ask('read'));
    times(20, () => ask('create'));
    times(20, () => ask('look-up'));
    await vi.advanceTimersByTimeAsync(4_400);
    const busy = names();
    expect(busy.filter((name) => name !== 'read')).toHaveLength(40);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(names().slice(busy.length)).toEqual(times(10, () => 'read'));
  });

  test('of scans are a tenth, and come however many others wait', async () => {
    const { ask, names } = recorder(new Limiter(20));
    times(300, () => ask('create'));
    times(9, () => ask('scan'));
    await vi.advanceTimersByTimeAsync(5_000);
    const scans = names().filter((name) => name === 'scan').length;
    expect(scans).toBeGreaterThanOrEqual(9);
    expect(names().length / scans).toBeGreaterThanOrEqual(10);
  });

  test('among creates go to the lower priority number first, then in the order of asking', async () => {
    const { ask, names } = recorder(new Limiter(10));
    ask('create', 'first');
    ask('create', 'row 1', 5);
    ask('create', 'row 2', 5);
    ask('create', 'single', 1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(names()).toEqual(['first', 'single', 'row 1', 'row 2']);
  });

  test('are not spent on a caller that gave up, which is told that nothing was sent', async () => {
    const limiter = new Limiter(10);
    const { ask, times: at } = recorder(limiter);
    const givingUp = new AbortController();
    ask('look-up');
    const given = limiter.turn('look-up', { signal: givingUp.signal });
    ask('look-up');
    givingUp.abort();
    await expect(given).rejects.toMatchObject({ code: 'not_sent', reason: 'aborted' });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(at()).toEqual([0, 50]);
  });

  test('that come too late for an attempt are refused, and not spent', async () => {
    const { ask, turns } = recorder(new Limiter(0.1));
    times(3, () => ask('look-up'));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(turns.map(({ name }) => name)).toEqual([
      'look-up',
      'look-up',
      'request was not sent: the limit left no turn in time',
    ]);
  });
});

describe('a new rate', () => {
  test('counts from the last turn on', async () => {
    const limiter = new Limiter(10);
    const { ask, times: at } = recorder(limiter);
    times(3, () => ask('look-up'));
    await vi.advanceTimersByTimeAsync(60);
    limiter.setRate(1);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(at()).toEqual([0, 50, 1_050]);
  });

  test('of a limiter that sent nothing yet brings its first turn one interval later', async () => {
    const limiter = new Limiter(10);
    const { ask, times: at } = recorder(limiter);
    limiter.setRate(2);
    ask('create');
    await vi.advanceTimersByTimeAsync(5_000);
    expect(at()).toEqual([500]);
  });
});

describe('"too many requests"', () => {
  test('stops all for as long as it asks, then halves the rate, which is whole again 30 s later', async () => {
    const limiter = new Limiter(10);
    const { ask, times: at } = recorder(limiter);
    const told: number[] = [];
    limiter.onSlowDown = (retryAfterMs) => told.push(retryAfterMs);
    limiter.slowDown(2_000);
    // Answers to what was under way at the same time.
    limiter.slowDown(1_000);
    expect(told).toEqual([2_000]);
    const asking = setInterval(() => undefined, 1_000);
    for (let second = 0; second < 40; second += 1) {
      times(10, () => ask('look-up'));
      await vi.advanceTimersByTimeAsync(1_000);
    }
    clearInterval(asking);
    const sent = (fromMs: number) => at().filter((ms) => ms >= fromMs && ms < fromMs + 2_000).length;
    expect(sent(0)).toBe(0);
    expect(sent(2_000)).toBeLessThanOrEqual(12);
    expect(sent(2_000)).toBeGreaterThanOrEqual(10);
    expect(sent(17_000)).toBeGreaterThanOrEqual(14);
    expect(sent(34_000)).toBeGreaterThanOrEqual(19);
  });

  test('tells those at once whose attempt cannot wait so long', async () => {
    const limiter = new Limiter();
    limiter.slowDown(60_000);
    await expect(limiter.turn('look-up')).rejects.toMatchObject({ code: 'not_sent' });
  });
});

describe('the places of creates', () => {
  test('wake in waves, so that one request can probe for many, and before the wave before them is sent', async () => {
    const limiter = new Limiter(10);
    const places = times(40, () => limiter.place({ priority: 5 }));
    const awake = () => places.filter((place) => place.awake).length;
    const waves = [awake()];
    for (const place of places) {
      await place.near();
      const taken = place.take();
      await vi.advanceTimersByTimeAsync(110);
      expect(await taken).toBe(true);
      place.leave();
      if (awake() !== waves.at(-1)) waves.push(awake());
    }
    expect(waves.length).toBeLessThanOrEqual(6);
  });

  test.each([
    [3.72, 12],
    [18.6, 60],
  ])(
    'at %d turns a second and %d rows at once: at most 1.3 requests a row, and four of five turns are creates',
    async (rate, atOnce) => {
      const ROWS = 200;
      const limiter = new Limiter(rate);
      const begunMs = performance.now();
      let requests = 0;
      let left = ROWS;
      let endedMs = 0;
      let group: Promise<void> | undefined;
      /** One request for all who ask before its turn has come, as the groups of look-ups are. */
      const probe = () => {
        group ??= limiter.turn('look-up').then(() => {
          group = undefined;
          requests += 1;
          return sleepFake(30);
        });
        return group;
      };
      const slot = async (): Promise<void> => {
        if (left === 0) return;
        left -= 1;
        const place = limiter.place({ priority: 5 });
        await place.near();
        do await probe();
        while (!(await place.take(performance.now() + 2_000)));
        place.leave();
        requests += 1;
        await sleepFake(150);
        endedMs = performance.now() - begunMs;
        return slot();
      };
      const all = Promise.all(times(atOnce, slot));
      await vi.advanceTimersByTimeAsync(200_000);
      await all;
      expect(requests / ROWS).toBeLessThanOrEqual(1.3);
      expect(ROWS / (endedMs / 1_000)).toBeGreaterThanOrEqual(rate * 0.75);
    },
  );

  test('of a person do not wait for those of a batch', () => {
    const limiter = new Limiter(10);
    times(40, () => limiter.place({ priority: 5 }));
    expect(limiter.place({ priority: 1 }).awake).toBe(true);
  });

  test('whose probe is too old when the turn comes keep the turn for others', async () => {
    const limiter = new Limiter(1);
    const { ask, times: at } = recorder(limiter);
    ask('look-up');
    const place = limiter.place();
    const taken = place.take(performance.now() + 500);
    ask('look-up');
    expect(await taken).toBe(false);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(at()).toEqual([0, 950]);
  });

  test('whose turn came too late wake again with the next ones, as the first of them', async () => {
    const limiter = new Limiter(10);
    const places = times(20, () => limiter.place({ priority: 5 }));
    const [late] = places;
    limiter.turn('look-up');
    expect(await late?.take(performance.now() + 10)).toBe(false);
    expect(await late?.near()).toBe(false);
    // Three were awake from the beginning, of which it was one; a wave is 15.
    expect(places.map((place) => place.awake)).toEqual([...Array(15).fill(true), ...Array(5).fill(false)]);
  });

  test('end their wait when told to', async () => {
    const limiter = new Limiter(1);
    limiter.place();
    const ended = limiter.place({ signal: AbortSignal.abort() });
    await expect(ended.near()).rejects.toMatchObject({ code: 'not_sent' });
  });
});

test('real time: twenty a second take a second for twenty', async () => {
  vi.useRealTimers();
  const limiter = new Limiter(20);
  const begunMs = performance.now();
  await Promise.all(times(21, () => limiter.turn('look-up')));
  expect(performance.now() - begunMs).toBeGreaterThan(940);
});
