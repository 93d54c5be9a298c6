import { beforeAll, expect, test } from 'vitest';
import { HOUR_MS, MINUTE_MS, SECOND_MS, useGatedLab } from '../../support/gated-lab.js';
import { orderInput } from '../../support/inputs.js';

/** Executed nowhere, so that only the settle window keeps it from being sent again. */
const NEVER_EXECUTED = 'create=500-before times=all';
const orderId = 'clock-jumped';

/** The worker's clock, which goes on only when the test says so. */
let workerMs = 0;
// Virtual time goes on while files load.
beforeAll(() => {
  workerMs = Date.now();
});
// By the worker's clock nobody sends an order later: once absence is proven, a person is asked.
const lab = useGatedLab({}, { nowMs: () => workerMs, quiet: true });

const PROVEN = { phase: 'parked', attention: { allowed: ['resend', 'close-absent', 'adopt'] } };

const creates = () => lab.gate.about(orderId, 'create').length;

test('a server clock that jumps over the settle window proves nothing: the create is not sent again', async () => {
  await lab.orders.start('withdraw', orderInput('withdraw', orderId, { marker: NEVER_EXECUTED }));
  await lab.skipUntil(async () => (await lab.state(orderId)).phase === 'uncertain', SECOND_MS, MINUTE_MS);
  await lab.skip(HOUR_MS / 2);
  expect(creates()).toBe(1);
  expect(lab.gate.about(orderId, 'status').length).toBeGreaterThanOrEqual(3);
});

test('absence is proven once the worker’s own clock has gone through the window as well', async () => {
  workerMs += 9 * MINUTE_MS;
  await lab.skip(20 * MINUTE_MS);
  expect((await lab.state(orderId)).phase).toBe('uncertain');
  workerMs += MINUTE_MS;
  await lab.skip(20 * MINUTE_MS);
  expect(await lab.state(orderId)).toMatchObject(PROVEN);
  expect(creates()).toBe(1);
});

test('every history replays', async () => {
  expect(await lab.replayAll()).toBe(1);
});
