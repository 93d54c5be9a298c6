import { describe, expect, test } from 'vitest';
import type { AttentionCode } from '../../../src/contract/attention.js';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, useGatedLab } from '../../support/gated-lab.js';
import { orderInput } from '../../support/inputs.js';
import type { GateAnswer } from '../../support/service-gate.js';

/** A followed order whose service fell silent: start, create, two rounds of polling, and what attention costs. */
const EVENTS_OF_A_SILENCE = 40;

const NO_READING = expect.stringContaining('so this order cannot be checked');

const lab = useGatedLab();

describe.each<{ name: string; answer: GateAnswer; code: AttentionCode }>([
  { name: 'refuses every look-up', answer: { status: 401, body: '{}' }, code: 'key-refused' },
  {
    name: 'does not show the order any more',
    answer: { status: 200, body: '{"status":"success","data":null}' },
    code: 'service-silent',
  },
])('the service $name while an order is followed', ({ answer, code }) => {
  const orderId = `silent-${answer.status}`;

  test('a person is told within half an hour, and no event is written for a day afterwards', async () => {
    lab.gate.showAsCreated(orderId, Date.now() + 30 * DAY_MS);
    await lab.orders.start('withdraw', orderInput('withdraw', orderId));
    await lab.skipUntil(async () => (await lab.state(orderId)).phase === 'following', SECOND_MS, HOUR_MS);
    await lab.skip(2 * HOUR_MS);
    expect((await lab.state(orderId)).attention).toBeUndefined();
    lab.gate.rule = ({ path, orderId: asked }) => (asked === orderId && path.endsWith('/status') ? answer : undefined);
    await lab.skip(30 * MINUTE_MS);
    expect(await lab.state(orderId)).toMatchObject({
      phase: 'following',
      attention: { code, reason: NO_READING, allowed: [] },
    });
    const { events } = await lab.history(orderId);
    expect(events).toBeLessThan(EVENTS_OF_A_SILENCE);
    await lab.skip(DAY_MS);
    expect((await lab.history(orderId)).events).toBe(events);
  });

  test('the first reading takes that back, a second silence is told again, and the order ends', async () => {
    const { rule } = lab.gate;
    lab.gate.rule = () => undefined;
    lab.gate.showAsCreated(orderId, Date.now() + 30 * DAY_MS);
    await lab.skip(10 * MINUTE_MS);
    expect((await lab.state(orderId)).attention).toBeUndefined();
    lab.gate.rule = rule;
    await lab.skip(30 * MINUTE_MS);
    expect((await lab.state(orderId)).attention).toMatchObject({ reason: NO_READING });
    lab.gate.rule = () => undefined;
    lab.gate.showAsCreated(orderId, 0);
    expect(await lab.result(lab.orders.order(orderId), HOUR_MS)).toMatchObject({ outcome: 'completed' });
  });
});

test('a person is told when what is left of a final order cannot be read, and it is read once that can be', async () => {
  const orderId = 'silent-list';
  let silent = true;
  lab.gate.rule = ({ path, orderId: asked }) =>
    silent && asked === orderId && path.endsWith('/list')
      ? { status: 200, body: '{"status":"success","data":[]}' }
      : undefined;
  const input = { marker: 'outcome=completed_partially fraction=0.4', compensation: 'report' as const };
  const handle = await lab.orders.start('withdraw', orderInput('withdraw', orderId, input));
  await lab.skipUntil(async () => (await lab.state(orderId)).phase === 'compensating', SECOND_MS, HOUR_MS);
  expect((await lab.state(orderId)).attention).toBeUndefined();
  await lab.skip(20 * MINUTE_MS);
  expect(await lab.state(orderId)).toMatchObject({ phase: 'compensating', attention: { reason: NO_READING } });
  silent = false;
  expect(await lab.result(handle, HOUR_MS)).toMatchObject({
    remainder: [{ kind: 'unpaid', currency: 'usd', amount: '5' }],
  });
});

test('every history replays', async () => {
  expect(await lab.replayAll()).toBe(3);
});
