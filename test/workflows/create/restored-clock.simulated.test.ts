import { expect, test } from 'vitest';
import { MINUTE_MS, useGatedLab } from '../../support/gated-lab.js';
import { orderInput } from '../../support/inputs.js';

/** The clock of the workers is that far behind the server's. */
const BEHIND_MS = 20 * MINUTE_MS;

const env = {
  // Read when the lab opens: virtual time goes on while files load.
  get TEMPORAL_RESTORED_AT() {
    return new Date().toISOString();
  },
};
const lab = useGatedLab(env, { nowMs: () => Date.now() - BEHIND_MS });

test('an order begun when the window after a restore is over for the server alone waits for the workers, and floods nobody', async () => {
  await lab.skip(11 * MINUTE_MS);
  const handle = await lab.orders.start('withdraw', orderInput('withdraw', 'behind'));
  await lab.skip(5 * MINUTE_MS);
  expect(lab.gate.about('behind', 'create')).toHaveLength(0);
  const { scheduled } = await lab.history('behind');
  expect(scheduled('createOrder').length).toBeLessThan(20);
  expect(await lab.result(handle, 60 * MINUTE_MS)).toMatchObject({ outcome: 'completed', adopted: false });
  expect(lab.gate.about('behind', 'create')).toHaveLength(1);
});

test('every history replays', async () => {
  expect(await lab.replayAll()).toBe(1);
});
