import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Policy } from '../../src/config.js';
import { type Protections, policyDigest } from '../../src/temporal/published.js';
import { createWorkers } from '../../src/worker/start-worker.js';
import { useGatedLab } from '../support/lab.js';
import { workflowBundle } from '../support/temporal.js';
import { openUngrouped } from '../support/ungrouped.js';
import { executions, parkedFor, startSteered } from '../workflows/compensation/parked-orders.fixture.js';

const policy: Policy = { rules: [{ rule: 'sum', per: 'day', currency: 'usd', max: '100', breach: 'park' }] };
const policies = new Map([['default', policy]]);
const lab = useGatedLab(undefined, { workers: false, limits: { policies } });
vi.setConfig({ testTimeout: 60_000 });

/** What another worker publishes: the same policy, and a cap. */
let others: Protections[] = [{ windows: [1_000, 600, 100], caps: { usd: '50' }, policy: policyDigest(policy) }];
let stop: () => Promise<void>;
beforeAll(async () => {
  const workers = await createWorkers(
    { ...lab.config, policies },
    {
      connection: lab.temporal.nativeConnection,
      namespace: lab.temporal.namespace,
      live: { others: () => others },
    },
    { workflowBundle: workflowBundle(), debugMode: true },
    await openUngrouped(lab.config.accounts),
  );
  const runs = workers.map((worker) => worker.run());
  stop = async () => {
    for (const worker of workers) worker.shutdown();
    await Promise.all(runs);
  };
});
afterAll(() => stop?.());

test('the policy judges an order whose cap goes with its worker before the send', async () => {
  lab.gate.rule = ({ path, body }) => {
    if (/order\/(status|list)/.test(path) && body.includes('withdraw-')) others = [];
    return undefined;
  };
  const order = { amount: '5000', currency: 'usd' };
  const { orderId, handle } = await startSteered(lab, 'withdraw', { marker: '', compensation: 'report', order });
  await parkedFor(handle, 'usd per day: the total would be 5000 usd');
  expect(executions(lab, orderId)).toBe(0);
});
