import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { callbackUrl } from '../../src/contract/callback-url.js';
import { DEFAULT_ACCOUNT, RECEIVED_DEPOSIT_WORKFLOW } from '../../src/contract/names.js';
import { disagreementOf } from '../../src/contract/reconcile/reconcile.js';
import { MAX_STARTS_PER_MINUTE } from '../../src/receiver/spare-temporal.js';
import { countOf, postOver, sendAll } from '../receiver/flood.fixture.js';
import { type Lab, newOrderId, openLab } from '../support/lab.js';
import {
  endProcesses,
  receiverEnv,
  startProcess,
  TOKEN_KEY,
  temporalEnv,
  workerEnv,
} from '../worker/process.fixture.js';
import { type Address, newAddress, receive, started } from '../workflows/receipts.fixture.js';

const FORGED = 10_000;
/** Longer than the minute of the limit, so that it is met, passes, and is met again. */
const FLOOD_MS = 70_000;
/** Callbacks under way at once. */
const IN_FLIGHT = 20;
const SETTLE_WINDOW = '4s';
/** A follower reads three times over the settle window, each time the status and the list. */
const LOOK_UPS_PER_FOLLOWER = 6;
const TEST_LIMIT_MS = 240_000;

const agent = new Agent({ keepAlive: true, maxSockets: IN_FLIGHT });

let lab: Lab;
let receiverUrl: string;
// Before each try: what another one started would count.
beforeEach(async () => {
  lab = await openLab({ callbacks: false, workers: false });
  const temporal = temporalEnv(lab.temporal);
  const receiver = startProcess('src/receiver.ts', receiverEnv(temporal, 0));
  receiverUrl = (await receiver.ready).receiver ?? '';
  const worker = startProcess('src/worker.ts', {
    ...workerEnv(temporal, lab.sandbox.url, receiverUrl),
    ORDER_SETTLE_WINDOW: SETTLE_WINDOW,
  });
  await worker.ready;
});
afterEach(async () => {
  await endProcesses();
  await lab?.close();
});
afterAll(() => agent.destroy());

/** Posts to the genuine callback URL of an address. Returns the HTTP status. */
function forge({ ref }: Address, orderUuid: string): Promise<number> {
  const url = callbackUrl(receiverUrl, TOKEN_KEY, { kind: 'address', account: DEFAULT_ACCOUNT, ref });
  return postOver(agent, url, { order_uuid: orderUuid, status: 'completed' });
}

/** Posts one callback for every id, evenly over the time of the flood. Returns the statuses and how long it took. */
async function flood(address: Address, ids: readonly string[]): Promise<{ statuses: number[]; tookMs: number }> {
  const startedAtMs = performance.now();
  const statuses = await sendAll(ids, IN_FLIGHT, async (id, n) => {
    const dueInMs = startedAtMs + (n * FLOOD_MS) / ids.length - performance.now();
    if (dueInMs > 0) await sleep(dueInMs);
    return forge(address, id);
  });
  return { statuses, tookMs: performance.now() - startedAtMs };
}

/** Runs of followers of ids that begin so; ended ones too, and several of one id counted each. */
async function runsOf(prefix: string) {
  const query = `WorkflowType = '${RECEIVED_DEPOSIT_WORKFLOW}' AND PaymentOrderUuid STARTS_WITH '${prefix}'`;
  const runs = [];
  for await (const run of lab.temporal.client.workflow.list({ query })) runs.push(run);
  return runs;
}

/** Requests about ids that the service does not know: its log knows no order for those of the status operation. */
const lookUpsOf = (prefix: string): number =>
  lab.sandbox
    .requests()
    .filter(({ path, orderId }) => (path === '/v2/order/status' ? orderId === undefined : orderId?.startsWith(prefix)))
    .length;

/** All that forged callbacks have cost: followers, their events, and look-ups. */
async function costOf(prefix: string) {
  const runs = await runsOf(prefix);
  const events = runs.reduce((sum, { historyLength = 0 }) => sum + historyLength, 0);
  return { runs: runs.length, events, lookUps: lookUpsOf(prefix) };
}

test(`${FORGED} forged callbacks with the token of an address: starts and look-ups keep to the limit, also of those that have ended`, {
  timeout: TEST_LIMIT_MS,
}, async () => {
  const [flooded, quiet] = await Promise.all([newAddress(lab), newAddress(lab)]);
  const prefix = newOrderId('forged-');
  const ids = Array.from({ length: FORGED }, (_, n) => `${prefix}-${n}`);
  const flooding = flood(flooded, ids);
  // Another address has a limit of its own; a receipt that nobody is told about waits for reconciliation.
  const told = receive(lab, quiet);
  const untold = receive(lab, flooded, 'callback=drop');
  expect(await (await started(told.handle)).result()).toMatchObject({ outcome: 'completed' });
  const { statuses, tookMs } = await flooding;

  // On a busy machine Temporal may take too long for an answer: then the service would call again.
  const [accepted = 0, refused = 0, late = 0] = [200, 429, 503].map((status) => countOf(statuses, status));
  expect(accepted + refused + late).toBe(FORGED);
  await vi.waitFor(
    async () => expect((await runsOf(prefix)).map(({ status }) => status.name)).not.toContain('RUNNING'),
    { timeout: 60_000, interval: 200 },
  );
  const followed = (await runsOf(prefix)).map(({ workflowId }) => workflowId.replace('received:default:', ''));
  const starts = followed.length;
  expect(starts).toBeGreaterThan(MAX_STARTS_PER_MINUTE);
  expect(starts).toBeLessThanOrEqual(MAX_STARTS_PER_MINUTE * (1 + Math.floor(tookMs / 60_000)));
  expect(starts).toBeGreaterThanOrEqual(accepted);
  expect(starts).toBeLessThanOrEqual(accepted + late);
  const ends = await Promise.all(
    followed.map((id) =>
      lab.orders
        .received(id)
        .result()
        .catch((error: { type?: string }) => error.type),
    ),
  );
  expect(new Set(ends)).toEqual(new Set(['OrderAbsent']));
  const cost = await costOf(prefix);
  expect(cost.lookUps).toBeLessThanOrEqual(starts * LOOK_UPS_PER_FOLLOWER);

  const first = await lab.orders.reconcile();
  expect(first.classes).toMatchObject({ noOrder: starts, receiptFollowed: 1, equal: 1, open: 0 });
  expect(disagreementOf(first)).toBeUndefined();
  expect(await untold.handle.result()).toMatchObject({ outcome: 'completed' });
  const second = await lab.orders.reconcile();
  expect(second.classes).toMatchObject({ noOrder: starts, receiptFollowed: 0, equal: 2, open: 0 });
  const again = await Promise.all(followed.map((id) => forge(flooded, id)));
  expect([200, 429, 503].reduce((sum, status) => sum + countOf(again, status), 0)).toBe(starts);
  // What was not there is looked for again when it is claimed again, within the same limit.
  expect(countOf(again, 200)).toBeLessThanOrEqual(MAX_STARTS_PER_MINUTE);
  expect((await runsOf(prefix)).length).toBeLessThanOrEqual(starts + MAX_STARTS_PER_MINUTE);
});
