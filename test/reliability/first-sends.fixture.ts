import { setTimeout as sleep } from 'node:timers/promises';
import { NativeConnection } from '@temporalio/worker';
import { expect, vi } from 'vitest';
import type { OrderHandle } from '../../src/client/order-handle.js';
import type { WorkerConfig } from '../../src/config.js';
import { CANARY_REFERENCE, searchAttribute } from '../../src/contract/names.js';
import type { Canary } from '../../src/contract/order/canary.js';
import type { OrderResult } from '../../src/contract/order/input-and-result.js';
import { createWorkers } from '../../src/worker/start-worker.js';
import { orderInput } from '../support/inputs.js';
import type { Lab, LabOptions } from '../support/lab.js';
import { type GateRule, listOf, operationOf } from '../support/service-gate.js';
import { settings } from '../support/simulated.js';
import { workflowBundle } from '../support/temporal.js';
import { decideNow } from '../workflows/compensation/parked-orders.fixture.js';
import { say } from './paced-lab.fixture.js';

/** The canary of these tests: one that counts for payouts. */
export const CANARY: Canary = { currency: 'usd', network: 'card', amount: '1.00', countsFor: ['withdraw'] };

/** Longest time, in windows, that a payout waits after an outage until a person is asked. */
const ASKED_WITHIN = 10;

/** How many windows after the end of an outage all payouts have completed. */
const COMPLETED_WITHIN = 2;

/** How many windows after a decision all others have followed. */
const FOLLOWED_WITHIN = 4;

/** Payouts start in this many windows from the beginning of an outage. */
const STARTS_WITHIN = 3;

/** A lab whose creates can fail. Nobody else creates orders, and nobody pays a deposit. */
export const firstSendsLab = (windowMs: number, more: LabOptions = {}): LabOptions => ({
  groups: true,
  quiet: true,
  workflowThread: true,
  sandbox: { settings: { duplicateMode: 'c', durationsMs: { pay: 86_400_000 } } },
  pace: { pollInitialMs: 1_000, pollMaxMs: 5_000, settleWindowMs: { atOnce: windowMs, deposit: windowMs / 4 } },
  ...more,
});

/** From now on creates answer 503 and are not executed. Look-ups work. */
export const failCreates = ({ sandbox }: Lab): void => sandbox.set({ faults: { 'create.503-before': 1 } });

/** From now on creates are accepted. */
export const acceptCreates = ({ sandbox }: Lab): void => sandbox.set({ faults: {} });

/** Starts workers beside those of the lab, as another process would; `end` ends them. */
export async function startBeside(lab: Lab, change: Partial<WorkerConfig>): Promise<{ end(): Promise<void> }> {
  if (settings.isSimulated) {
    // It ends with the lab.
    await lab.startWorkers(change);
    return { end: async () => undefined };
  }
  const { address, namespace } = lab.temporal;
  const connection = await NativeConnection.connect({ address });
  const config = { ...lab.config, ...change };
  const workers = await createWorkers(config, { connection, namespace }, { workflowBundle: workflowBundle() });
  const runs = workers.map((worker) => worker.run());
  return {
    end: async () => {
      for (const worker of workers) worker.shutdown();
      await Promise.all(runs);
      await connection.close();
    },
  };
}

/** How a payout ended. */
interface End {
  atMs: number;
  outcome: string;
  result?: OrderResult;
}

/** Options of one payout; `orderId` replaces the id that is made. */
export interface PayoutOptions {
  orderId?: string;
  marker?: string;
}

/** The payouts of one test. Their ids have one length. */
export class Payouts {
  readonly handles: OrderHandle[] = [];
  readonly ends = new Map<string, End>();

  constructor(
    private readonly lab: Lab,
    private readonly label: string,
  ) {}

  get ids(): string[] {
    return this.handles.map(({ orderId }) => orderId);
  }

  /** Ids of those that have not ended. */
  get open(): string[] {
    return this.ids.filter((id) => !this.ends.has(id));
  }

  async start({ orderId = this.#newId(), marker }: PayoutOptions = {}): Promise<OrderHandle> {
    const handle = await this.lab.orders.start('withdraw', orderInput('withdraw', orderId, marker ? { marker } : {}));
    this.handles.push(handle);
    const end = (ended: Omit<End, 'atMs'>) => void this.ends.set(orderId, { atMs: Date.now(), ...ended });
    handle.result().then(
      (result) => end({ outcome: result.outcome, result }),
      (error: unknown) => end({ outcome: String(error) }),
    );
    return handle;
  }

  /** Starts several, evenly over a time. */
  async startSpread(count: number, overMs: number, options: (n: number) => PayoutOptions = () => ({})): Promise<void> {
    const beganMs = Date.now();
    for (let n = 0; n < count; n += 1) {
      await sleep(Math.max(0, beganMs + (n * overMs) / count - Date.now()));
      await this.start(options(n));
    }
  }

  /** Waits until the service has got a create of each. */
  async untilSent(): Promise<void> {
    const { sandbox } = this.lab;
    const unsent = () => {
      const { createsByOrderId } = sandbox.stats();
      return this.ids.filter((id) => !createsByOrderId[id]);
    };
    await vi.waitUntil(() => unsent().length === 0, { timeout: 60_000, interval: 50 }).catch(() => undefined);
    expect(await this.waitingFor(unsent())).toEqual([]);
  }

  /** Waits until all but these have ended, or for that long; returns the ids of those that are still open. */
  async untilEnded(withinMs: number, but: readonly string[] = []): Promise<string[]> {
    const open = () => this.open.filter((id) => !but.includes(id));
    await vi.waitUntil(() => open().length === 0, { timeout: withinMs, interval: 50 }).catch(() => undefined);
    return open();
  }

  /** What these wait for. */
  waitingFor(ids: readonly string[]): Promise<string[]> {
    const handles = this.handles.filter(({ orderId }) => ids.includes(orderId));
    return Promise.all(
      handles.map(async (handle) => {
        const { phase, waitingFor, attention } = await handle.state();
        return `${handle.orderId} ${phase}: ${attention?.reason ?? waitingFor}`;
      }),
    );
  }

  /** When the last of them ended. */
  lastEndMs = (): number => Math.max(...[...this.ends.values()].map(({ atMs }) => atMs));

  decisions = () => [...this.ends.values()].flatMap(({ result }) => result?.decisions ?? []);

  /** Each payout is completed and executed once. */
  expectCompletedOnce(but: readonly string[] = []): void {
    const ids = this.ids.filter((id) => !but.includes(id));
    expect(ids.flatMap((id) => (this.ends.get(id)?.outcome === 'completed' ? [] : [this.ends.get(id) ?? id]))).toEqual(
      [],
    );
    expect(this.notExecuted(1, but)).toEqual([]);
  }

  /** Ids that were not executed that often. */
  notExecuted(times: number, but: readonly string[] = []): string[] {
    const { executedByOrderId } = this.lab.sandbox.stats();
    return this.ids.filter((id) => !but.includes(id) && (executedByOrderId[id] ?? 0) !== times);
  }

  /** Ids that were executed or sent more than once. */
  sentTwice(): string[] {
    const { executedByOrderId, createsByOrderId } = this.lab.sandbox.stats();
    return this.ids.filter((id) => Math.max(executedByOrderId[id] ?? 0, createsByOrderId[id] ?? 0) > 1);
  }

  #newId = (): string => `${this.label}-${process.pid}-${1_000 + this.handles.length}`;
}

/** Everybody who was asked so far, by order id, with the code of the question. */
export interface Asked {
  readonly byOrder: ReadonlyMap<string, string>;
  /** Stops to watch, after a last look. */
  end(): Promise<void>;
}

/** Watches which orders ask for a person, canaries included. */
export function watchAsked({ temporal: { client } }: Lab): Asked {
  const byOrder = new Map<string, string>();
  const { name } = searchAttribute.attentionReason;
  const look = async () => {
    for await (const run of client.workflow.list({ query: `${name} IS NOT NULL` })) {
      const [prefix, , orderId] = run.workflowId.split(':', 3);
      const code = run.typedSearchAttributes.get(searchAttribute.attentionReason);
      if (prefix === 'order' && orderId) byOrder.set(run.workflowId.replace(/^order:[^:]+:/, ''), String(code));
    }
  };
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      // A busy server may refuse a list. The last look may not fail.
      await look().catch(() => undefined);
      await sleep(500, undefined, { ref: false });
    }
  })();
  return {
    byOrder,
    end: async () => {
      isOver = true;
      await watching;
      await look();
    },
  };
}

/** A canary: its order id and when its workflow started. */
export interface StartedCanary {
  orderId: string;
  atMs: number;
}

const OF_CANARIES = `${searchAttribute.reference.name} = '${CANARY_REFERENCE}'`;

/** All canaries so far, oldest first. */
export async function canariesOf({ temporal: { client } }: Lab): Promise<StartedCanary[]> {
  const canaries: StartedCanary[] = [];
  for await (const { workflowId, startTime } of client.workflow.list({ query: OF_CANARIES })) {
    canaries.push({ orderId: workflowId.replace(/^order:[^:]+:/, ''), atMs: startTime.getTime() });
  }
  return canaries.sort((a, b) => a.atMs - b.atMs);
}

/** At most one canary a window, each sent at most once, no payment. */
export async function expectCanaries(lab: Lab, payouts: Payouts, windowMs: number): Promise<StartedCanary[]> {
  const canaries = await canariesOf(lab);
  const gaps = canaries.slice(1).map(({ atMs }, n) => atMs - (canaries[n]?.atMs ?? 0));
  expect(gaps.filter((ms) => ms < 0.95 * windowMs)).toEqual([]);
  const { createsByOrderId } = lab.sandbox.stats();
  expect(canaries.filter(({ orderId }) => (createsByOrderId[orderId] ?? 0) > 1)).toEqual([]);
  const others = lab.sandbox.orders().filter(({ order }) => !payouts.ids.includes(order.user_order_id));
  const unlike = others.filter(({ order }) => order.order_type !== 'deposit' || order.status !== 'new');
  expect(unlike).toEqual([]);
  const ids = canaries.map(({ orderId }) => orderId);
  expect(others.filter(({ order }) => !ids.includes(order.user_order_id))).toEqual([]);
  return canaries;
}

/** How long an outage is and how many payouts start in it. */
export interface Outage {
  count: number;
  windowMs: number;
  windows: number;
}

/** An outage in which payouts start. Resolves at its end, with the time. */
export async function outage(lab: Lab, payouts: Payouts, { count, windowMs, windows }: Outage): Promise<number> {
  const beganMs = Date.now();
  failCreates(lab);
  await payouts.startSpread(count, Math.min(STARTS_WITHIN, windows) * windowMs);
  await sleep(Math.max(0, beganMs + windows * windowMs - Date.now()));
  // On a busy machine, payouts that are first sent after the outage would go first.
  await payouts.untilSent();
  acceptCreates(lab);
  return Date.now();
}

/** What is written about one story. */
function report(story: string, { count, windowMs, windows }: Outage, lines: Record<string, string | number>): void {
  const figures = Object.entries(lines).map(([name, figure]) => `${figure} ${name}`);
  say(`${story}, ${count} payouts, ${windows} windows of ${windowMs / 1_000} s: ${figures.join(', ')}`);
}

/** Windows from then until the last payout ended, for reports. */
const took = (payouts: Payouts, fromMs: number, windowMs: number): string =>
  payouts.ends.size === 0 ? 'no' : ((payouts.lastEndMs() - fromMs) / windowMs).toFixed(1);

/** After the outage two more payouts start, which go first: all complete, and nobody is asked. */
export async function behindUnsent(lab: Lab, about: Outage): Promise<void> {
  const { windowMs, count } = about;
  const payouts = new Payouts(lab, 'unsent');
  const asked = watchAsked(lab);
  const overAtMs = await outage(lab, payouts, about);
  await payouts.start();
  await sleep(0.3 * windowMs);
  await payouts.start();
  const open = await payouts.untilEnded(overAtMs + COMPLETED_WITHIN * windowMs - Date.now());
  await asked.end();
  const completed = count + 2 - open.length;
  const windows = took(payouts, overAtMs, windowMs);
  report('with unsent orders', about, { completed, asked: asked.byOrder.size, 'windows after the end': windows });
  expect([...asked.byOrder]).toEqual([]);
  expect(await payouts.waitingFor(open)).toEqual([]);
  payouts.expectCompletedOnce();
}

/** After the outage no payout starts, and the canary goes first: all complete, and nobody is asked. */
export async function behindCanary(lab: Lab, about: Outage): Promise<void> {
  const payouts = new Payouts(lab, 'canary');
  const asked = watchAsked(lab);
  const overAtMs = await outage(lab, payouts, about);
  await expectFollowCanary(lab, payouts, asked, { ...about, overAtMs });
  payouts.expectCompletedOnce();
}

/** What `expectFollowCanary` needs. `but`: payouts that wait for a person. */
export interface Following extends Outage {
  overAtMs: number;
  story?: string;
  /** Windows after `overAtMs`. */
  within?: number;
  but?: readonly string[];
}

/** All payouts complete behind a canary. None is sent once nothing is in doubt. */
export async function expectFollowCanary(
  lab: Lab,
  payouts: Payouts,
  asked: Asked,
  { overAtMs, story = 'with the canary', within = COMPLETED_WITHIN, but = [], ...about }: Following,
): Promise<void> {
  const { windowMs } = about;
  const open = await payouts.untilEnded(overAtMs + within * windowMs - Date.now(), but);
  const doneAtMs = Date.now();
  // A canary would go now if it did not matter whether something is in doubt.
  if (but.length === 0) await sleep(1.2 * windowMs);
  await asked.end();
  const canaries = await canariesOf(lab);
  report(story, about, {
    completed: payouts.ids.length - payouts.open.length,
    asked: asked.byOrder.size,
    'windows after the end': took(payouts, overAtMs, windowMs),
    canaries: canaries.length,
  });
  expect([...asked.byOrder.keys()].filter((id) => !but.includes(id))).toEqual([]);
  expect(await payouts.waitingFor(open)).toEqual([]);
  expect(canaries.length).toBeGreaterThan(0);
  await expectCanaries(lab, payouts, windowMs);
  if (but.length === 0) expect(canaries.filter(({ atMs }) => atMs > doneAtMs)).toEqual([]);
}

/** Nobody goes first: persons are asked only after the outage, and one decision lets all go on. */
export async function behindDecision(lab: Lab, about: Outage): Promise<void> {
  const payouts = new Payouts(lab, 'decided');
  const asked = watchAsked(lab);
  const overAtMs = await outage(lab, payouts, about);
  expect([...asked.byOrder]).toEqual([]);
  await decideOneOf(payouts, asked, { ...about, overAtMs });
}

/** Waits until all payouts ask, decides one, and expects that the others follow. */
export async function decideOneOf(
  payouts: Payouts,
  asked: Asked,
  { overAtMs, story = 'with one decision', ...about }: Following,
): Promise<void> {
  const { count, windowMs } = about;
  const allAsk = () => payouts.open.every((id) => asked.byOrder.has(id));
  const timeout = overAtMs + ASKED_WITHIN * windowMs - Date.now();
  await vi.waitUntil(allAsk, { timeout, interval: 100 }).catch(() => undefined);
  const codes = [...new Set(asked.byOrder.values())];
  const byThemselves = payouts.ends.size;
  const [before, decidedAtMs] = [asked.byOrder.size, Date.now()];
  const decided = payouts.handles.find(({ orderId }) => asked.byOrder.has(orderId));
  if (decided) await decideNow(decided, 'resend');
  const open = await payouts.untilEnded(FOLLOWED_WITHIN * windowMs);
  await asked.end();
  report(story, about, {
    asked: before,
    [`completed before the decision (${((decidedAtMs - overAtMs) / windowMs).toFixed(1)} windows after the end)`]:
      byThemselves,
    'completed after it': payouts.ends.size - byThemselves,
    'windows after it': took(payouts, decidedAtMs, windowMs),
  });
  expect(codes).toEqual(['uncertain-create']);
  expect([before, byThemselves]).toEqual([count, 0]);
  expect([...asked.byOrder.keys()].filter((id) => !payouts.ids.includes(id))).toEqual([]);
  expect(await payouts.waitingFor(open)).toEqual([]);
  payouts.expectCompletedOnce();
  expect(payouts.decisions().map(({ action }) => action)).toEqual(['resend']);
}

/** Lists and statuses show only these orders, under the id that `shownAs` makes of theirs. */
export function showOnly(
  lab: Lab,
  isShown: (order: { user_order_id: string; order_uuid: string; order_type: string }) => boolean,
  shownAs: (orderId: string) => string = (orderId) => orderId,
): GateRule {
  return ({ path, body }) => {
    const operation = operationOf(path);
    if (operation !== 'list' && operation !== 'status') return undefined;
    const shown = lab.sandbox.orders().flatMap((one) => {
      if (!isShown(one.order)) return [];
      return [{ ...one, order: { ...one.order, user_order_id: shownAs(one.order.user_order_id) } }];
    });
    if (operation === 'list') return listOf(body, shown);
    const { order_id: id, order_uuid: uuid } = JSON.parse(body) as { order_id?: string; order_uuid?: string };
    const found = shown.find(({ order }) => order.user_order_id === id || order.order_uuid === uuid);
    const data = JSON.stringify({ status: 'success', data: found?.order });
    return found ? { status: 200, body: data } : { status: 400, body: '{}' };
  };
}
