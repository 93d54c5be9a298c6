import { describe, expect, test } from 'vitest';
import type { ReceivedResult } from '../../src/receiver/signals.js';
import { SIGNAL_BURST, STARTS, spareReceived, spareTemporal } from '../../src/receiver/spare-temporal.js';
import { ADDRESS, ORDER } from './receiver.fixture.js';

const bodyOf = (claims: object): Buffer => Buffer.from(JSON.stringify(claims));

describe('a body is not even parsed', () => {
  const broken = Buffer.from('not JSON');

  test('beyond its order’s allowance, which malformed bodies use up as well', async () => {
    const signal = spareTemporal(async () => 'delivered');
    const results: string[] = [];
    for (let n = 0; n < SIGNAL_BURST + 1; n += 1) results.push((await signal(ORDER, broken)).result);
    expect(results).toEqual([...Array<string>(SIGNAL_BURST).fill('malformed'), 'limited']);
    expect(await signal(ORDER, bodyOf({}))).toEqual({ result: 'limited' });
  });

  test('beyond its address’s allowance', async () => {
    const received = spareReceived(async () => 'delivered');
    const results: string[] = [];
    for (let n = 0; n < 1_000; n += 1) results.push((await received(ADDRESS, broken)).result);
    expect(results.at(0)).toBe('malformed');
    expect(results.at(-1)).toBe('crowded');
    expect(results.filter((result) => result === 'malformed').length).toBeLessThan(700);
  });
});

describe('callbacks of one permanent address', () => {
  /** A Temporal that knows the given order_uuids and counts how often it is asked about others. */
  function temporal(known: string[]) {
    const seen = { unknown: 0, started: [] as string[] };
    const spared = spareReceived(async (_target, { order_uuid: uuid }, mayStart): Promise<ReceivedResult> => {
      if (known.includes(uuid)) return 'delivered';
      seen.unknown += 1;
      if (!mayStart()) return 'crowded';
      seen.started.push(uuid);
      known.push(uuid);
      return 'delivered';
    });
    return {
      seen,
      about: async (uuid: string, status?: string) =>
        (await spared(ADDRESS, bodyOf({ order_uuid: uuid, status }))).result,
    };
  }

  test('start 10 followers at once and ask about no more than some hundred unknown orders', async () => {
    const { seen, about } = temporal([]);
    const results: string[] = [];
    for (let n = 0; n < 10_000; n += 1) results.push(await about(`forged-${n}`));
    expect(seen.started.length).toBeLessThanOrEqual(STARTS.burst + 1);
    expect(results.filter((result) => result === 'crowded')).toHaveLength(10_000 - seen.started.length);
    expect(seen.unknown).toBeLessThan(1_000);
  });

  test('about followers that run pass while no new one may start', async () => {
    const { about } = temporal(['running']);
    for (let n = 0; n < 100; n += 1) await about(`forged-${n}`);
    expect(await about('forged-100')).toBe('crowded');
    expect(await about('running')).toBe('delivered');
  });

  test('signal one follower as often as an order may be signalled', async () => {
    const { about } = temporal(['running', 'other']);
    const results: string[] = [];
    for (let n = 0; n < SIGNAL_BURST + 5; n += 1) results.push(await about('running', `s${n}`));
    expect(results.slice(SIGNAL_BURST)).toEqual(Array(5).fill('limited'));
    expect(await about('other')).toBe('delivered');
  });
});
