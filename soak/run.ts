import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { collectEvidence } from '../chaos/evidence/collect.js';
import type { Evidence, Finding } from '../chaos/evidence/evidence.js';
import { HEALED, underFire } from '../chaos/faults.js';
import { planOrders } from '../chaos/inputs.js';
import { Load } from '../chaos/load.js';
import { countOrders, decideParked, type OperatorReport } from '../chaos/operator.js';
import { withProgress } from '../chaos/progress.js';
import { type Judged, judge, killedText } from '../chaos/report.js';
import type { ChaosStack } from '../chaos/stack.js';
import type { Supervised } from '../chaos/supervised.js';
import { chance } from '../sandbox/chance.js';
import type { PaymentOrders } from '../src/index.js';
import { Books } from './books.js';
import { cycleMs, disturb, disturbances } from './disturbances.js';
import type { EventReceiver } from './event-receiver.js';
import type { SoakOptions } from './options.js';
import { PAYROLL_STARTED, Payroll } from './payroll.js';
import { type Sample, Sampler } from './samples.js';

const SAMPLE_EVERY_MS = 10_000;
/** Orders a second whose first answer is waited for, which adds to their histories. */
const ASKED_RATE = 0.5;
const CALLBACKS_LOST = 0.3;
/** Orders whose personal data is looked for at most: more do not fit into memory. */
const MAX_SOUGHT = 2_000;
/** After the load, an order must end within this time, until all have ended. */
const FINAL_WITHIN_MS = 5 * 60_000;
const EVENTS_WITHIN_MS = 2 * 60_000;
const DRAIN_ROUND_MS = 2_000;

/** Parts of a run beside the stack. */
export interface Soak {
  stack: ChaosStack;
  api: Supervised;
  apiUrl: string;
  receiver: EventReceiver;
  versions: readonly string[];
  options: SoakOptions;
  signal: AbortSignal;
}

/** Result of a run. */
export interface SoakResult {
  evidence: Evidence;
  load: Load;
  operator: OperatorReport;
  judged: Judged[];
  samples: readonly Sample[];
  startedAtMs: number;
}

/** Loads and disturbs the stack, lets everything end, and judges what was done. */
export async function soak(run: Soak): Promise<SoakResult> {
  const { stack, api, apiUrl, receiver, options, signal, versions } = run;
  const { seed, rate, minutes } = options;
  const [totalMs, everyMs] = [minutes * 60_000, cycleMs(minutes)];
  const [account] = stack.service.accounts;
  if (!account) throw new Error('no account');
  for (const change of [underFire(seed), HEALED, { callbacks: { lostRate: CALLBACKS_LOST } }]) {
    await stack.service.set(change);
  }
  const ledgerAtStart = await stack.service.ledger();
  const books = new Books(apiUrl, join(stack.folder, 'books'), await account.ledger());
  const sampler = new Sampler(stack, [api], options.samples);
  const target = {
    ...{ orders: { start: asking(stack.orders, options, sampler) }, failover: stack.failover, seed, signal },
    ...{ receiverUrl: stack.receiverUrl, tokenKey: stack.secrets.tokenKey },
    ledgerFile: join(stack.folder, 'requested.ndjson'),
  };
  const load = new Load(target, planOrders(Math.round(rate * minutes * 60), seed));
  const startedAtMs = Date.now();
  const payroll = await Payroll.create(stack, seed, everyMs, startedAtMs + totalMs);
  const operator: OperatorReport = { parks: new Map(), decisions: new Map(), choices: [] };
  const newKeys: string[] = [];
  const watched = Promise.all([
    repeat(SAMPLE_EVERY_MS, signal, () => sampler.take()),
    // The operator's list fails while Temporal is down.
    repeat(SAMPLE_EVERY_MS, signal, () => decideParked(stack.orders, operator).catch(() => undefined)),
  ]);
  let last = 'nothing yet';
  const done = (name: string, tookMs: number) => {
    last = name;
    return sampler.write({ atMs: Date.now(), disturbance: name, tookMs });
  };
  const state = async () =>
    `started ${load.accepted.size} of ${load.planned.length}, open ${await countOrders(stack.orders, 'open')}, ${killedText(stack)}; last: ${last}`;
  const all = disturbances({ stack, books, versions, newKeys });
  await withProgress('soak', state, () =>
    Promise.race([
      Promise.all([load.run(rate), disturb(all, { totalMs, everyMs, signal }, done)]),
      watched.then(() => new Promise<never>(() => {})),
    ]),
  );
  await Promise.all([...stack.workers, stack.receiver].map((process) => process.whenReady()));
  for (const { orderId } of await payroll.end()) load.accepted.add(orderId);
  await withProgress('drain', state, () => drain(stack, operator, signal));
  await waitForEvents(receiver, load, signal);
  await books.close(await account.ledger());
  const every = Math.ceil(load.planned.length / MAX_SOUGHT);
  const rows = payroll.runs.flatMap((planned) => planned.rows);
  const evidence = await withProgress(
    'oracle',
    async () => '',
    () =>
      collectEvidence(withKeys(run, newKeys, every), load, {
        batched: [...rows.filter(({ orderId }) => load.accepted.has(orderId)), PAYROLL_STARTED],
        ...{ choices: operator.choices, ledgerAtStart, isSought: sought(seed, every) },
      }),
  );
  const judged = [
    ...judge(evidence, operator),
    { name: 'books against the ledger', findings: books.findings },
    { name: 'events', findings: eventFindings(receiver, evidence) },
    { name: 'scheduled batches', findings: payroll.findings },
  ];
  return { evidence, load, operator, judged, samples: sampler.samples, startedAtMs };
}

/** Starts an order; of some, measures the time to the first answer. */
function asking(orders: PaymentOrders, { seed, rate }: SoakOptions, sampler: Sampler): PaymentOrders['start'] {
  return async (type, input, options) => {
    const begunMs = performance.now();
    const handle = await orders.start(type, input, options);
    const answered = () => sampler.answered.push(performance.now() - begunMs);
    // An order without an answer shows in its result.
    if (chance(seed, `asked ${handle.orderId}`) < ASKED_RATE / rate) handle.created().then(answered, () => undefined);
    return handle;
  };
}

async function repeat(everyMs: number, signal: AbortSignal, act: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await act();
    await sleep(everyMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Waits until no order is open; gives up once none has ended for a while. */
async function drain({ orders }: ChaosStack, operator: OperatorReport, signal: AbortSignal): Promise<void> {
  const begunMs = Date.now();
  let fewest = { open: Number.POSITIVE_INFINITY, atMs: begunMs };
  while (Date.now() - fewest.atMs < FINAL_WITHIN_MS) {
    await decideParked(orders, operator);
    const open = await countOrders(orders, 'open');
    if (open === 0) {
      operator.allFinalAfterMs = Date.now() - begunMs;
      return;
    }
    if (open < fewest.open) fewest = { open, atMs: Date.now() };
    await sleep(DRAIN_ROUND_MS, undefined, { signal });
  }
}

async function waitForEvents(receiver: EventReceiver, load: Load, signal: AbortSignal): Promise<void> {
  const untilMs = Date.now() + EVENTS_WITHIN_MS;
  const isMissing = () => [...load.accepted].some((orderId) => !receiver.ended.has(orderId));
  while (isMissing() && Date.now() < untilMs) await sleep(DRAIN_ROUND_MS, undefined, { signal });
}

function eventFindings({ ended, problems }: EventReceiver, { followed }: Evidence): Finding[] {
  const missing = [...followed.values()].filter(({ orderId, end }) => end !== 'open' && !ended.has(orderId));
  return [
    ...problems.map((text) => ({ text })),
    ...missing.map(({ orderId }) => ({ orderId, text: `${orderId} ended without an event` })),
  ];
}

/** Selects each n-th order of the load and what belongs to it; batches and all else are always selected. */
const sought = (seed: string, every: number) => (id: string) => {
  const [, number] = new RegExp(`chaos-${seed}-(\\d{5,})(?![\\d-])`).exec(id) ?? [];
  return number === undefined || Number(number) % every === 0;
};

/** Returns the stack with all secrets of the run, and each n-th signature. */
const withKeys = ({ stack, receiver }: Soak, newKeys: readonly string[], every: number): ChaosStack => ({
  ...stack,
  secrets: { ...stack.secrets, apiKeys: [...stack.secrets.apiKeys, ...newKeys], events: receiver.secret },
  signatures: new Set([...stack.signatures].filter((_, index) => index % every === 0)),
});
