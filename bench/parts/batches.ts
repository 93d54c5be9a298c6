import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { REQUEST } from '../contenders.js';
import { idleShares, usedBy } from '../measure.js';
import { type Bench, type Part, productsOf } from '../part.js';
import type { Product } from '../product.js';
import type { Arrival } from '../service.js';
import type { OurSite } from '../stand.js';
import { worstWindow } from '../statistics.js';
import type { Figure, Row } from '../table.js';

const FIGURES: readonly Figure[] = [
  { id: 'rowsPerSecond', title: 'rows/s', drawn: true },
  { id: 'requestsPerRow', title: 'requests a row', drawn: true },
  { id: 'ofLimit', title: 'of the limit, first to last create' },
  { id: 'worstWindow', title: 'of the limit, worst 5 s', drawn: true },
  { id: 'serverCpuMs', title: 'server CPU a row', unit: 'ms' },
  { id: 'workerCpuMs', title: 'CPU of both workers a row', unit: 'ms' },
  { id: 'busyCores', title: 'cores busy, all in all' },
];

/** Two processes share the account and its limit. */
const WORKERS = 2;
const WINDOW_MS = 5_000;
/** Rows by default: what the limit lets pass in so many seconds, with so many requests a row. */
const SECONDS = 12;
const REQUESTS_PER_ROW = 1.2;
const ROWS_WITHOUT_LIMIT = 300;
/** A batch that takes longer is measured by what it did until then. */
const LONGEST_SECONDS = { usual: 24, asked: 600 };

const rowsFor = (limit: number): number =>
  limit === 0 ? ROWS_WITHOUT_LIMIT : Math.round((limit * SECONDS) / REQUESTS_PER_ROW);

/** Core-seconds that the machine was busy so far, whoever with. */
const busySeconds = (): number =>
  cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + user + nice + sys + irq, 0) / 1_000;

/** One batch, with a service and workers of its own: nothing of an earlier one counts against its limit. */
class BatchRun {
  constructor(
    private readonly bench: Bench,
    private readonly folder: string,
    private readonly idle: ReadonlyMap<number, number>,
  ) {}

  /** `ended`: it was not cut off. */
  async measure(label: string, limit: number, product: Product) {
    const { stand, options } = this.bench;
    const rows = options.rows ?? rowsFor(limit);
    const service = await stand.anotherService();
    const env = { BATCH_DIR: this.folder, ...(limit > 0 && { PAYMENT_REQUESTS_PER_SECOND: `${limit}` }) };
    const site = await stand.ours(label, { product, service, workers: WORKERS, env });
    const longest = options.rows ? LONGEST_SECONDS.asked : LONGEST_SECONDS.usual;
    const startedAtMs = Date.now();
    const [pids, busyBefore] = [[stand.serverPid, ...site.workers.map(({ pid }) => pid)], busySeconds()];
    let ended = false;
    const { seconds, cpuMs } = await usedBy(pids, this.idle, async () => {
      const over = new AbortController();
      const tooLate = sleep(longest * 1_000, undefined, { signal: over.signal }).catch(() => undefined);
      ended = await Promise.race([this.#send(site, label, rows), tooLate.then(() => false)]);
      over.abort();
    });
    const busyCores = (busySeconds() - busyBefore) / seconds;
    const figures = figuresOf(await service.arrivals(startedAtMs), limit);
    await site.stop();
    await service.process.stop();
    const [server = Number.NaN, ...workers] = cpuMs.map((ms) => ms / figures.rows);
    const workerCpuMs = workers.reduce((sum, ms) => sum + ms, 0);
    return { ended, figures: { ...figures, serverCpuMs: server, workerCpuMs, busyCores } };
  }

  /** Sends a batch from a file; true once all of its rows have completed. */
  async #send({ orders }: OurSite, batchId: string, rows: number): Promise<true> {
    const order = (n: number) => ({ order_id: `${batchId}-${n}.`, ...REQUEST });
    const lines = Array.from({ length: rows }, (_, n) => Object.values(order(n)).join(','));
    const path = `${batchId}.csv`;
    await writeFile(join(this.folder, path), `${Object.keys(order(0)).join(',')}\n${lines.join('\n')}\n`, {
      mode: 0o600,
    });
    const { outcomes } = await (await orders.batches.start({ batchId, file: { path }, startedBy: 'bench' })).result();
    if (outcomes.completed !== rows) throw new Error(`${outcomes.completed} of ${rows} rows completed`);
    return true;
  }
}

/** What the service saw of a batch. */
export function figuresOf(arrivals: readonly Arrival[], limit: number) {
  const creates = arrivals.filter(({ path }) => path.endsWith('/withdraw')).map(({ atMs }) => atMs);
  const [first = 0, last = 0] = [creates[0], creates.at(-1)];
  const seconds = (last - first) / 1_000;
  const between = arrivals.filter(({ atMs }) => atMs >= first && atMs <= last);
  const all = arrivals.map(({ atMs }) => atMs);
  return {
    rows: creates.length,
    rowsPerSecond: (creates.length - 1) / seconds,
    requestsPerRow: arrivals.length / creates.length,
    ...(limit > 0 && {
      ofLimit: between.length / seconds / limit,
      worstWindow: worstWindow(all, WINDOW_MS) / ((limit * WINDOW_MS) / 1_000),
    }),
  };
}

const limitName = (limit: number): string => (limit === 0 ? 'no limit' : `${limit}/s`);

async function measure(bench: Bench) {
  const { stand, options, say } = bench;
  const { rounds, limits } = options;
  const [own, ...others] = productsOf(bench);
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'bench-batches-')));
  const rows: Row[] = [];
  const notes: string[] = [];
  try {
    const run = new BatchRun(bench, folder, await idleShares([stand.serverPid]));
    const kinds = limits.flatMap((limit) =>
      [own, ...others].map((product) => ({ limit, product: product as Product })),
    );
    for (const { limit, product } of kinds) {
      const against = product !== own && `${own?.name}, ${limitName(limit)}`;
      rows.push({ name: `${product.name}, ${limitName(limit)}`, ...(against && { against }), rounds: [] });
    }
    for (let round = 1; round <= rounds; round += 1) {
      for (const [index, { limit, product }] of kinds.entries()) {
        const row = rows[index] as Row;
        const { ended, figures } = await run.measure(`batch-r${round}-${limit}-${product.name}`, limit, product);
        if (!ended) notes.push(`${row.name}, round ${round}: measured by its first ${figures.rows} rows`);
        row.rounds.push(figures);
        say(`round ${round} of ${rounds}: ${row.name}: ${figures.rowsPerSecond.toFixed(1)} rows/s`);
      }
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  const sizes = limits.map((limit) => `${options.rows ?? rowsFor(limit)} (${limitName(limit)})`).join(', ');
  const title = options.rows ? `batches of ${options.rows} rows` : `batches of ${sizes} rows`;
  return [{ id: 'batches', title: `${title}, ${WORKERS} workers`, figures: FIGURES, rows, notes }];
}

/** What a batch makes of the account's limit. */
export const batches: Part = {
  name: 'batches',
  about: "rows a second, requests a row and the account's limit, with two workers",
  measure,
};
