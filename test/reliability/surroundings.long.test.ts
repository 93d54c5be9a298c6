import { hash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test, vi } from 'vitest';
import type { SandboxOptions } from '../../sandbox/options.js';
import { parseOrderWorkflowId, searchAttribute } from '../../src/contract/names.js';
import { orderInput } from '../support/inputs.js';
import { endProcesses, peakMib, startProcess, temporalEnv } from '../worker/process.fixture.js';
import { type BatchLab, useBatchLab } from '../workflows/batch/batches.fixture.js';
import { Payouts } from './first-sends.fixture.js';
import { startBatchWorker } from './killable-workers.fixture.js';
import { say } from './paced-lab.fixture.js';

/* All of a worker's surroundings at once: the service, its clock, and the number of its open orders. */

/** Orders that are open when the worker is told to end. */
const OPEN_ORDERS = Number(process.env.OPEN_ORDERS ?? 5_000);
const STARTS_AT_ONCE = 10;
const MOST_MIB = 512;
const TEST_LIMIT_MS = 25 * 60_000;
const WITHDRAWS = `WorkflowType = 'withdraw'`;
const OPEN_WITHDRAWS = `${WITHDRAWS} AND ExecutionStatus = 'Running'`;
const COMPLETED = `${searchAttribute.orderStatus.name} = 'completed'`;
const SHORT_WINDOW = { ORDER_SETTLE_WINDOW: '10s', ALLOW_SHORT_WINDOWS: 'true' };

/** A lab without workers; those of a test are ended first. */
function useProcessLab(sandbox: SandboxOptions): BatchLab {
  const lab = useBatchLab({ workers: false, sandbox });
  afterAll(endProcesses);
  return lab;
}

async function startPayouts(lab: BatchLab, label: string, count: number, marker = ''): Promise<Payouts> {
  const payouts = new Payouts(lab, label);
  await payouts.startSpread(count, 0, () => ({ marker }));
  return payouts;
}

/** All complete within that time, each executed once. */
async function expectPaidOnce(payouts: Payouts, withinMs: number): Promise<void> {
  const open = await payouts.untilEnded(withinMs);
  expect(await payouts.waitingFor(open.slice(0, 10))).toEqual([]);
  payouts.expectCompletedOnce();
}

const countAsked = async ({ temporal }: BatchLab): Promise<number> =>
  (await temporal.client.workflow.count(`${searchAttribute.attentionReason.name} IS NOT NULL`)).count;

describe('a service that cuts off half of its answers', () => {
  const cut = ['create', 'status', 'list', 'rates'].flatMap((place) => [
    [`${place}.truncated`, 0.25],
    [`${place}.cut`, 0.25],
  ]);
  const lab = useProcessLab({ seed: 'half', settings: { duplicateMode: 'c', faults: Object.fromEntries(cut) } });

  test(
    'every payout is executed once, and nobody is asked',
    async () => {
      startBatchWorker(lab, SHORT_WINDOW);
      await expectPaidOnce(await startPayouts(lab, 'half', 60), 300_000);
      expect(await countAsked(lab)).toBe(0);
    },
    TEST_LIMIT_MS,
  );
});

/** Code for a process whose clock jumps at each SIGUSR2: an hour ahead, two hours back, and to the right time again. */
const CLOCK = `
  const Right = Date; const jumps = [3_600_000, -3_600_000, 0]; let by = 0;
  globalThis.Date = class extends Right {
    constructor(...given) { if (given.length > 0) super(...given); else super(Right.now() + by); }
    static now() { return Right.now() + by; }
  };
  process.on('SIGUSR2', () => { by = jumps.shift() ?? 0; });`;

describe('a worker whose clock jumps', () => {
  const faults = { 'create.no-answer': 0.05, 'create.500-after': 0.05, 'create.503': 0.05 };
  const lab = useProcessLab({ seed: 'jumps', settings: { duplicateMode: 'c', faults } });

  test(
    'by an hour, twice: every payout is executed once, and all end once it is right again',
    async () => {
      const options = `--import=data:text/javascript,${encodeURIComponent(CLOCK)}`;
      const worker = startBatchWorker(lab, { ...SHORT_WINDOW, NODE_OPTIONS: options });
      await worker.ready;
      const payouts = await startPayouts(lab, 'jumps', 20);
      // An hour ahead, an hour behind, right: some of those before are still under way.
      for (let jumps = 0; jumps < 3; jumps += 1) {
        await payouts.handles.at(-20)?.result({ timeoutMs: 60_000 });
        worker.kill('SIGUSR2');
        await payouts.startSpread(20, 0);
      }
      await expectPaidOnce(payouts, 300_000);
      say(`a clock that jumps: ${payouts.ids.length} executed once, ${await countAsked(lab)} ask`);
    },
    TEST_LIMIT_MS,
  );
});

describe(`${OPEN_ORDERS} open orders`, () => {
  const lab = useProcessLab({ seed: 'many' });
  // The heap that Node takes in a container of 512 MB, by which a worker sizes its cache.
  const settings = { ORDER_POLL_INITIAL: '30s', ORDER_POLL_MAX: '60s', NODE_OPTIONS: '--max-old-space-size=256' };

  test(
    'a worker that is told to end does so at once, and another one ends them all',
    async () => {
      const worker = startBatchWorker(lab, settings);
      await worker.ready;
      // Each start is far from its end until all are started.
      const [beganMs, marker] = [performance.now(), `after_ms=${60 * OPEN_ORDERS + 60_000}`];
      const ids = Array.from({ length: OPEN_ORDERS }, (_, n) => `open-${n}`);
      const waiting = [...ids];
      const startSome = async (): Promise<void> => {
        for (let id = waiting.shift(); id; id = waiting.shift()) {
          await lab.orders.start('withdraw', orderInput('withdraw', id, { marker }));
        }
      };
      await Promise.all(Array.from({ length: STARTS_AT_ONCE }, startSome));
      // Nobody waits for a result: Temporal lets a namespace have about 1,200 such calls.
      const countOpen = async () => (await lab.temporal.client.workflow.count(OPEN_WITHDRAWS)).count;
      const startedMs = performance.now();
      await vi.waitUntil(async () => (await countOpen()) === OPEN_ORDERS, { timeout: 20_000, interval: 500 });
      worker.kill('SIGTERM');
      expect(await worker.exited).toBe(0);
      const stoppedMs = performance.now();
      const next = startBatchWorker(lab, settings);
      // A create that was in hand is sent again only once a later order is shown.
      const later = new Payouts(lab, 'later');
      const untilMs = Date.now() + 60 * OPEN_ORDERS + 600_000;
      while (Date.now() < untilMs && ((await countOpen()) > 0 || later.ids.length === 0)) {
        await later.startSpread(1, 0);
        await sleep(10_000);
      }
      const states: unknown[] = [];
      for await (const { workflowId } of lab.temporal.client.workflow.list({ query: OPEN_WITHDRAWS })) {
        states.push(await lab.orders.order(parseOrderWorkflowId(workflowId)?.orderId ?? '').state());
      }
      expect(states).toEqual([]);
      const { executedByOrderId } = lab.sandbox.stats();
      expect(ids.filter((id) => executedByOrderId[id] !== 1)).toEqual([]);
      expect((await lab.temporal.client.workflow.count(`${COMPLETED} AND ${WITHDRAWS}`)).count).toBe(
        OPEN_ORDERS + later.ids.length,
      );
      expect(await countAsked(lab)).toBe(0);
      const seconds = [startedMs - beganMs, stoppedMs - startedMs, performance.now() - stoppedMs];
      const mib = Math.round(await peakMib(next.pid));
      const shown = seconds.map((ms) => (ms / 1_000).toFixed(1)).join(', ');
      say(`${OPEN_ORDERS} open orders: started in, ended after, completed in ${shown} s; ${mib} MiB`);
      expect(mib).toBeLessThan(MOST_MIB);
      expect(seconds[1]).toBeLessThan(30_000);
    },
    2 * TEST_LIMIT_MS,
  );

  test(
    'whoever exports their month ten times at once holds up no payout, and is answered twice',
    async () => {
      const file = join(lab.folder, 'api-keys.json');
      const keys = [{ name: 'books', sha256: hash('sha256', 'books'), verbs: ['read'] }];
      writeFileSync(file, JSON.stringify(keys), { mode: 0o600 });
      const env = { ...temporalEnv(lab.temporal), API_ADDRESS: '127.0.0.1:0', API_KEYS_FILE: file };
      const api = startProcess('src/api.ts', env);
      const { api: url } = await api.ready;
      const month = new Date().toISOString().slice(0, 7);
      const beganMs = performance.now();
      const exports = Array.from({ length: 10 }, async () => {
        const answer = await fetch(`${url}/v1/books?month=${month}`, { headers: { authorization: 'Bearer books' } });
        return { status: answer.status, bytes: (await answer.arrayBuffer()).byteLength };
      });
      const payouts = await startPayouts(lab, 'beside', 20);
      await expectPaidOnce(payouts, 60_000);
      const paidMs = performance.now() - beganMs;
      const answers = await Promise.all(exports);
      const mib = Math.round(await peakMib(api.pid));
      const shown = answers.map(({ status, bytes }) => `${status} (${bytes})`).join(' ');
      say(
        `books: payouts ${Math.round(paidMs)} ms, exports ${Math.round(performance.now() - beganMs)} ms: ${shown}; ${mib} MiB`,
      );
      expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(2);
      expect(mib).toBeLessThan(MOST_MIB);
    },
    TEST_LIMIT_MS,
  );
});
