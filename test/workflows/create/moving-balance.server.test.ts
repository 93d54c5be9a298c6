import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { DEFAULT_ACCOUNT, fundsLineWorkflowId } from '../../../src/contract/names.js';
import { say } from '../../reliability/paced-lab.fixture.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useLab } from '../../support/lab.js';
import { settings } from '../../support/simulated.js';

/** A server lives it for a minute. */
const SECONDS = settings.isSimulated ? 3_600 : 60;

vi.setConfig({ testTimeout: 300_000 });

const lab = useLab({ sandbox: { settings: { overdraft: false } }, pace: { pollInitialMs: 5_000, pollMaxMs: 60_000 } });

test('a balance that moves each second for an hour, always too low, costs neither history nor many reads', async () => {
  const setBalance = (usd: string) => lab.sandbox.set({ balances: { usd } });
  setBalance('50');
  const started = await Promise.all(
    [1, 2, 3].map((n) =>
      lab.orders.start('withdraw', orderInput('withdraw', newOrderId(`moves-${n}`), { whenShort: 'wait' })),
    ),
  );
  const reads = () => lab.sandbox.requests().filter(({ path }) => path === '/v2/balances').length;
  const line = lab.temporal.client.workflow.getHandle(fundsLineWorkflowId(DEFAULT_ACCOUNT));
  await vi.waitFor(async () => expect((await line.describe()).status.name).toBe('RUNNING'), {
    timeout: 30_000,
    interval: 100,
  });
  for (let second = 0; second < SECONDS; second += 1) {
    setBalance((5 + (second % 70) / 10).toFixed(2));
    await sleep(1_000);
  }
  const { historyLength } = await line.describe();
  const events = await Promise.all(started.map(({ orderId }) => lab.events(orderId)));
  say(
    `a balance that moves for ${SECONDS} s: ${reads()} reads, ${historyLength} events of the line, ${events} of orders`,
  );
  // Orders join again, ever more slowly.
  expect(historyLength).toBeLessThan(120);
  expect(Math.max(...events)).toBeLessThan(60);
  expect(reads()).toBeLessThan(SECONDS / 30 + 10);
  setBalance('1000');
  const ends = await Promise.all(started.map((handle) => handle.result()));
  expect(ends.map(({ outcome }) => outcome)).toEqual(started.map(() => 'completed'));
});
