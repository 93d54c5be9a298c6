import { expect, onTestFinished, test, vi } from 'vitest';
import { startDevServer } from '../../scripts/temporal/dev-server.js';
import { type Policy, Secret } from '../../src/config.js';
import { say } from '../reliability/paced-lab.fixture.js';
import { orderInput } from '../support/inputs.js';
import { type LabOptions, newOrderId, openLab } from '../support/lab.js';
import { decideNow } from '../workflows/compensation/parked-orders.fixture.js';

vi.setConfig({ testTimeout: 240_000 });

/** As many calls of one kind that wait as the server allows in a namespace; 1,200 by default. */
const ROOM = 30;

async function openCrowdedLab(options: LabOptions = {}) {
  const server = await startDevServer({ log: () => undefined, dynamicConfig: { 'frontend.namespaceCount': ROOM } });
  onTestFinished(() => server.stop());
  const lab = await openLab({ temporalAddress: server.address, ...options });
  onTestFinished(() => lab.close());
  return lab;
}

test('more callers wait for results than Temporal has room for: each gets its own', async () => {
  const lab = await openCrowdedLab();
  const ids = Array.from({ length: 3 * ROOM }, () => newOrderId('waits'));
  const start = (id: string) => lab.orders.start('withdraw', orderInput('withdraw', id, { marker: 'after_ms=60000' }));
  const handles = await Promise.all(ids.map(start));
  const results = await Promise.all(handles.map((handle) => handle.result()));
  expect(results.map(({ outcome }) => outcome)).toEqual(ids.map(() => 'completed'));
});

test('callers that wait for an answer or a final status keep nobody from paying, stopping and deciding', async () => {
  const policy: Policy = {
    rules: [{ rule: 'sum', per: 'day', currency: 'usd', max: '1000', breach: 'park' }],
    payeeKey: new Secret('0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a6978'),
  };
  const lab = await openCrowdedLab({ limits: { policies: new Map([['default', policy]]) } });
  const start = (label: string, amount: string) => {
    const input = orderInput('withdraw', newOrderId(label));
    return lab.orders.start('withdraw', { ...input, order: { ...input.order, amount } });
  };
  const parked = await start('parked', '5000');
  await vi.waitFor(async () => expect((await parked.state()).phase).toBe('parked'), { timeout: 30_000 });
  const ends = new AbortController();
  const waits = Array.from({ length: 4 * ROOM }, async (_, n) => {
    const wait = () => (n % 2 > 0 ? parked.created({ timeoutMs: 10_000 }) : parked.final({ timeoutMs: 10_000 }));
    while (!ends.signal.aborted) await wait().catch((error: Error) => expect(error.name).toBe('NotDecidedYetError'));
  });
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  const took: Record<string, number> = {};
  const timed = async (name: string, act: () => Promise<unknown>) => {
    const beganMs = performance.now();
    await act();
    took[name] = Math.round(performance.now() - beganMs);
  };
  const by = { by: 'Ann Smith', reason: 'a test' };
  await timed('pay', async () => expect((await (await start('other', '5')).result()).outcome).toBe('completed'));
  await timed('stop', () => lab.orders.accounts.stop('default', by));
  await timed('resume', () => lab.orders.accounts.resume('default', by));
  await timed('decide', () => decideNow(parked, 'refuse'));
  say(`with ${waits.length} callers that wait: ${JSON.stringify(took)} ms`);
  expect(Math.max(...Object.values(took))).toBeLessThan(5_000);
  ends.abort();
  await Promise.allSettled(waits);
});
