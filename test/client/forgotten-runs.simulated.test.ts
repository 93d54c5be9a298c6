import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { isClientError } from '../../src/index.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId, useGatedLab } from '../support/lab.js';
import { openSimulatedLab, type SimulatedLab } from '../support/simulated-lab.js';

/* Temporal forgets a run that somebody waits for: after a restore, a failover, or a deletion. */

const lab = useGatedLab<SimulatedLab>(
  ({ path }) =>
    path.includes('/list') || path.includes('/address') || path.includes('/rates') ? { status: 503 } : undefined,
  {},
  openSimulatedLab as never,
);

/** Ends in what the caller gets once all runs of a prefix are gone. */
async function forgotten(prefix: string, call: () => Promise<unknown>): Promise<unknown> {
  const ended = call().catch((error: unknown) => error);
  // Nothing of these ends as soon.
  await sleep(30);
  const ids = [...lab.engine.runs.keys()].filter((id) => id.startsWith(prefix));
  expect(ids).not.toEqual([]);
  for (const id of ids) lab.engine.remove(id);
  return ended;
}

test.each<[string, string, () => Promise<unknown>, object]>([
  ['a reconciliation', 'reconcile:', () => lab.orders.reconcile({}), { name: 'FailedError', subject: 'reconcile' }],
  [
    'an address that is created',
    'address:',
    () => lab.orders.createAddress({ ref: newOrderId('gone'), address: { currency: 'usdt', network: 'tron' } }),
    { subject: 'address' },
  ],
  [
    'a plan',
    'bulk-plan:',
    () => lab.orders.batches.plan({ rows: [orderInput('withdraw', newOrderId('gone')).order], startedBy: 'ann' }),
    // It hears of the end first.
    { name: 'UnresolvedError', subject: 'batch' },
  ],
  ['a read', 'read:', () => lab.orders.rates(), { name: 'FailedError', subject: 'read' }],
  [
    'an order',
    'order:',
    async () => (await lab.orders.start('withdraw', orderInput('withdraw', newOrderId('gone')))).result(),
    { name: 'UnknownIdError', subject: 'order' },
  ],
])('%s: whoever waits gets an error of the library, which names it', async (_, prefix, call, says) => {
  const error = await forgotten(prefix, call);
  expect(error).toMatchObject(says);
  expect(isClientError(error)).toBe(true);
});
