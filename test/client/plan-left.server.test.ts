import { expect, test } from 'vitest';
import { useClient } from './client.fixture.js';

const fixture = useClient({ withWorker: false });

const rows = [{ order_id: 'o-1', currency: 'usd', network: 'card', amount: '1', wallet: '4111111111111111' }];
const running = `WorkflowId STARTS_WITH 'bulk-plan:' AND ExecutionStatus = 'Running'`;

test.each([
  ['whose time is over', () => ({ timeoutMs: 1_500 }), { name: 'NoWorkerError' }],
  ['whose caller gave up', () => ({ signal: AbortSignal.timeout(1_500) }), { name: 'TimeoutError' }],
])('a plan %s leaves nothing behind', async (_, wait, refusal) => {
  const { batches } = fixture.orders;
  const planning = batches.plan({ rows, startedBy: 'ann' }, wait());
  const refused = expect(planning).rejects.toMatchObject(refusal);
  const count = async () => (await fixture.namespace.client.workflow.count(running)).count;
  await expect.poll(count).toBe(1);
  await refused;
  await expect.poll(count, { timeout: 10_000 }).toBe(0);
});
