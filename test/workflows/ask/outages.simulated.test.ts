import { beforeAll, describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS, useGatedLab } from '../../support/gated-lab.js';
import { orderInput } from '../../support/inputs.js';
import type { GateAnswer } from '../../support/service-gate.js';

/** Start, create, one look-up with its alarm, and what raising attention costs: no more, however long it lasts. */
const EVENTS_OF_AN_OUTAGE = 25;
/** Telling at once that the key is refused: the look-up ends, and is asked for anew. */
const EVENTS_OF_A_REFUSED_KEY = 7;

const lab = useGatedLab();

describe('a day without a service', () => {
  const SENT = 'sent-before-the-outage';
  const NOT_SENT = 'started-in-the-outage';
  /** What look-ups meet at first; afterwards connections are refused. None of it is a reading. */
  const NO_READINGS: GateAnswer[] = [
    { status: 401 },
    { status: 403 },
    { status: 429, headers: { 'retry-after': '5' } },
    { status: 500 },
    { status: 302, headers: { location: '/elsewhere' } },
    { status: 200, body: '<html>maintenance</html>' },
    { status: 200, body: '{"status":"error"}' },
  ];
  const outcomes: Record<string, unknown> = {};
  const before: Record<string, number> = {};
  const after: Record<string, number> = {};
  let startedAtMs: number;

  beforeAll(async () => {
    let n = 0;
    lab.gate.rule = ({ orderId, path }) => {
      if (orderId !== SENT || lab.gate.about(SENT, 'create').length === 0) return undefined;
      if (path.endsWith('/order/withdraw')) return undefined;
      n += 1;
      return NO_READINGS[n % NO_READINGS.length];
    };
    startedAtMs = Date.now();
    const sent = await lab.orders.start('withdraw', orderInput('withdraw', SENT, { marker: 'create=500-after' }));
    await lab.skipUntil(() => n >= 2 * NO_READINGS.length, 10 * MINUTE_MS, DAY_MS);
    await lab.gate.shut();
    const notSent = await lab.orders.start('withdraw', orderInput('withdraw', NOT_SENT));
    await lab.skip(HOUR_MS);
    for (const id of [SENT, NOT_SENT]) before[id] = (await lab.history(id)).events;
    await lab.skip(23 * HOUR_MS);
    for (const id of [SENT, NOT_SENT]) after[id] = (await lab.history(id)).events;
    outcomes.during = { sent: await lab.state(SENT), notSent: await lab.state(NOT_SENT) };
    lab.gate.rule = () => undefined;
    await lab.gate.open();
    outcomes.sent = await lab.result(sent, HOUR_MS);
    outcomes.notSent = await lab.result(notSent, HOUR_MS);
  }, 120_000);

  test('an order sent before it is looked for all the time, with a person told, and never sent again', () => {
    expect(outcomes.during).toMatchObject({
      sent: { phase: 'uncertain', attention: { allowed: [] } },
      notSent: { attention: { code: 'service-down', reason: expect.stringContaining('ECONNREFUSED') } },
    });
    expect(outcomes.sent).toMatchObject({ outcome: 'completed', adopted: true });
    expect(lab.gate.about(SENT, 'create')).toHaveLength(1);
    expect(lab.sandbox.stats().executedByOrderId[SENT]).toBe(1);
  });

  test('an order started in it is created once, when the service is back', () => {
    expect(outcomes.during).toMatchObject({ notSent: { phase: 'creating', attention: { allowed: [] } } });
    expect(outcomes.notSent).toMatchObject({ outcome: 'completed', adopted: false });
    const [createdAtMs = 0, ...more] = lab.gate.about(NOT_SENT, 'create').map(({ atMs }) => atMs);
    expect(more).toEqual([]);
    expect(createdAtMs - startedAtMs).toBeGreaterThan(DAY_MS);
    expect(lab.sandbox.stats().executedByOrderId[NOT_SENT]).toBe(1);
  });

  test('a day of it writes no event into either history', () => {
    expect(after).toEqual(before);
    expect(after[SENT]).toBeLessThan(EVENTS_OF_AN_OUTAGE + EVENTS_OF_A_REFUSED_KEY);
    expect(after[NOT_SENT]).toBeLessThan(EVENTS_OF_AN_OUTAGE);
  });
});

test('every history replays', async () => {
  expect(await lab.replayAll()).toBe(2);
});
