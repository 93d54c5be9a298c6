import { hash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { orderInput } from '../support/inputs.js';
import { newOrderId } from '../support/lab.js';
import { keyOf } from '../temporal/stored-bytes.fixture.js';
import { endProcesses, type Process, peakMib, startProcess, temporalEnv } from '../worker/process.fixture.js';
import { type BatchLab, openBatchLab } from '../workflows/batch/batches.fixture.js';
import { startBatchWorker } from './killable-workers.fixture.js';
import { type Ask, ATTACKS, type Attack } from './neighbours.fixture.js';
import { say } from './paced-lab.fixture.js';

/* Neighbours with small rights while payouts go on, compared with the same payouts just before. */

const EVERY_MS = 500;
/** Payouts before the attack, at its beginning, which is told alone, and after that. */
const COUNTS = { usual: 20, burst: 16, attacked: 20 };
const MOST_MIB = 512;

const KEY = keyOf('a');
const ENCRYPTION = { PAYLOAD_ENCRYPTION_KEYS: `a:${KEY.key.export().toString('base64')}`, LOG_LEVEL: 'error' };
const KEYS = { reader: ['read'], starter: ['start'], shop: ['start', 'read'] };

/** Asks one address until `stopped`. */
const asking =
  (url: string, stopped: AbortSignal): Ask =>
  async (path, { key, body, method = body === undefined ? 'GET' : 'POST' } = {}) => {
    const headers = {
      ...(key && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'content-type': `application/${method === 'PUT' ? 'x-ndjson' : 'json'}` }),
    };
    const bytes = body instanceof Uint8Array ? body : JSON.stringify(body);
    const answer = await fetch(url + path, { method, headers, body: bytes, signal: stopped });
    await answer.arrayBuffer();
    return answer.status;
  };

/** Worker, API and codec of a lab, each a process of its own. */
function startAll(lab: BatchLab, settings?: Record<string, string>): Record<'worker' | 'api' | 'codec', Process> {
  const file = join(lab.folder, 'api-keys.json');
  const keys = Object.entries(KEYS).map(([name, verbs]) => ({ name, sha256: hash('sha256', name), verbs }));
  writeFileSync(file, JSON.stringify(keys), { mode: 0o600 });
  const address = '127.0.0.1:0';
  const env = { ...ENCRYPTION, ...temporalEnv(lab.temporal), API_ADDRESS: address, API_KEYS_FILE: file };
  return {
    worker: startBatchWorker(lab, { ...ENCRYPTION, ...settings }),
    api: startProcess('src/api.ts', env),
    codec: startProcess('src/codec.ts', { ...ENCRYPTION, CODEC_ADDRESS: address }),
  };
}

/** Sends the requests of an attack; `end` resolves to its figures. */
function launch(
  { begin, send, perSecond = 0, atOnce = 0, answers = [], told }: Attack,
  ask: Parameters<NonNullable<Attack['send']>>[0],
  stop: () => void,
) {
  const times = new Map<unknown, number>();
  const waiting = new Set<Promise<void>>();
  let [sent, isOver] = [0, false];
  begin?.();
  const one = async (): Promise<void> => {
    const answer = await send?.(ask, sent++).catch((error: Error) => error.name);
    if (answer !== 'AbortError') times.set(answer, (times.get(answer) ?? 0) + 1);
    if (atOnce > 0 && !isOver) await one();
  };
  const follow = () => {
    const run: Promise<void> = one().finally(() => waiting.delete(run));
    waiting.add(run);
  };
  for (let n = 0; n < atOnce; n += 1) follow();
  const timer = perSecond > 0 ? setInterval(follow, 1_000 / perSecond) : undefined;
  return async (): Promise<string> => {
    clearInterval(timer);
    isOver = true;
    // What is refused is answered by then.
    await sleep(1_000);
    const [still, figures] = [waiting.size, await told(times, waiting.size)];
    stop();
    await Promise.all(waiting);
    expect.soft([...times.keys()].filter((answer) => !answers.includes(answer))).toEqual([]);
    return [...[...times].map(([answer, count]) => `${count} × ${answer}`), `${still} wait`, figures].join(', ');
  };
}

/** Times in ms. What does not succeed takes for ever. */
interface Times {
  orders: number[];
  answers: number[];
  probes: number[];
}

/** Payouts by another key, and its answers, until all have completed. */
async function payouts({ orders }: BatchLab, api: Ask, count: number): Promise<Times> {
  const times: Times = { orders: [], answers: [], probes: [] };
  const timed = async (into: number[], run: () => Promise<unknown>) => {
    const beganMs = performance.now();
    const isWell = await run().then(
      (result) => ['completed', 200, 201, 202].includes(result as string),
      () => false,
    );
    into.push(isWell ? performance.now() - beganMs : Number.POSITIVE_INFINITY);
  };
  const pay = () => {
    const { order } = orderInput('withdraw', newOrderId('payout'));
    const body = { order_type: 'withdraw', order };
    return timed(times.orders, async () => {
      await timed(times.answers, () => api('/v1/orders?wait=0', { key: 'shop', body }));
      await timed(times.answers, () => api('/v1/orders?limit=10', { key: 'shop' }));
      await timed(times.probes, () => api('/readyz'));
      return (await orders.order(order.order_id).result({ timeoutMs: 60_000 })).outcome;
    });
  };
  const running: Promise<void>[] = [];
  for (let n = 0; n < count; n += 1) {
    running.push(pay());
    await sleep(EVERY_MS);
  }
  await Promise.all(running);
  return times;
}

const at = (share: number, times: number[]) =>
  times.toSorted((a, b) => a - b)[Math.ceil(share * times.length) - 1] ?? 0;

/** Half of them, 95 % and all are done after these times. */
const shown = ({ orders, answers, probes }: Times) =>
  [orders, answers, probes]
    .map((times) => [0.5, 0.95, 1].map((share) => Math.round(at(share, times))).join('/'))
    .join(' ');

describe.each(ATTACKS)('%s', (name, prepare) => {
  let [lab, attack, processes]: [BatchLab, Attack, ReturnType<typeof startAll>] = [] as never;
  beforeAll(async () => {
    lab = await openBatchLab({ workers: false, encryptionKeys: [KEY] });
    attack = await prepare(lab);
    processes = startAll(lab, attack.env);
  });
  afterAll(async () => {
    await endProcesses();
    await lab?.close();
  });

  test('payouts, answers and probes of others keep their usual time', async () => {
    const [{ api = '' }, { codec = '' }] = await Promise.all([
      processes.api.ready,
      processes.codec.ready,
      processes.worker.ready,
    ]);
    const [ours, theirs] = [new AbortController(), new AbortController()];
    const ask = asking(api, ours.signal);
    await payouts(lab, ask, 4);
    const usual = await payouts(lab, ask, COUNTS.usual);
    const neighbour = { api: asking(api, theirs.signal), codec: asking(codec, theirs.signal) };
    const end = launch(attack, neighbour, () => theirs.abort());
    const burst = await payouts(lab, ask, COUNTS.burst);
    const attacked = await payouts(lab, ask, COUNTS.attacked);
    const figures = await end();
    const peaks = await Promise.all(Object.values(processes).map(async ({ pid }) => Math.round(await peakMib(pid))));
    say(
      `${name}: ${shown(usual)} ms, then ${shown(burst)}, then ${shown(attacked)}; ${peaks.join('/')} MiB; ${figures}`,
    );
    expect.soft(Math.max(...peaks)).toBeLessThan(MOST_MIB);
    for (const kind of ['orders', 'answers', 'probes'] as const) {
      const usualMs = at(0.95, usual[kind]);
      expect.soft(at(0.95, attacked[kind]), kind).toBeLessThanOrEqual(Math.max(2 * usualMs, usualMs + 1_000));
      expect.soft(Math.max(...burst[kind]), kind).toBeLessThan(Number.POSITIVE_INFINITY);
    }
  }, 300_000);
});
