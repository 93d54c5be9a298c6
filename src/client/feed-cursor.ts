import { createHash } from 'node:crypto';
import * as z from 'zod';
import { jsonOr } from '../contract/json.js';

/*
 * Position in the ended runs of a list. Temporal lists them newest first, and a run only a moment
 * after its end, so each window begins a little before the newest end of the window before.
 */

/** Runs by the interval of their end. */
type Counts = Readonly<Record<string, number>>;

/** Window that is being read, page by page. Times are of Temporal's clock, in milliseconds. */
export interface FeedPosition {
  /** Runs that ended later may be listed late. Undefined: the oldest end that Temporal has. */
  from?: number | undefined;
  /** Start of the window. Runs between `from` and it were returned, as many as `counts` says. */
  start?: number | undefined;
  counts: Counts;
  /** All runs since `from` that were returned. Absent if hashes name those since `start`. */
  total?: number | undefined;
  /** Hashes of runs of this window that were returned before. */
  seen: readonly string[];
  /** Result of the window's earlier pages. Absent: the window begins. */
  page?:
    | { token: string; top: number; fresh: readonly string[]; full?: number | undefined; counts: Counts }
    | undefined;
}

/** Maximum delay between the end of a run and its appearance in lists. */
export const OVERLAP_MS = 120_000;
/** Width of the intervals in which runs are counted where there are too many for hashes. */
const INTERVAL_MS = 2_000;
/** Maximum hashes of a window: a cursor then has at most 4,000 characters. */
const MAX_HASHES = 150;
const HASH_BYTES = 6;

const hashOf = (runId: string): string =>
  createHash('sha256').update(runId).digest().subarray(0, HASH_BYTES).toString('base64url');

const intervalOf = (ms: number): number => Math.floor(ms / INTERVAL_MS);

const sumOf = (counts: Counts): number => Object.values(counts).reduce((sum, count) => sum + count, 0);

/** Returns how many runs lie between `from` and `start` if none was listed late. */
export const expectedCount = ({ counts }: FeedPosition): number => sumOf(counts);

/** Returns the position that reads everything since `from` again, because a run was listed late. */
export const widened = ({ from, seen }: FeedPosition): FeedPosition => ({ from, start: from, counts: {}, seen });

/** Returns the runs of a page that are new, and the position after it. */
export function advance<R extends { runId: string; closedMs: number }>(
  at: FeedPosition,
  { runs, token }: { runs: readonly R[]; token?: Uint8Array | undefined },
): { found: R[]; next: FeedPosition } {
  const known = new Set(at.seen);
  const found = runs.filter(({ runId }) => !known.has(hashOf(runId)));
  const top = at.page?.top ?? runs[0]?.closedMs;
  if (top === undefined) return { found, next: at };
  const from = Math.max(at.from ?? 0, intervalOf(top - OVERLAP_MS) * INTERVAL_MS);
  const fresh = new Set(at.page?.fresh);
  const counts: Record<string, number> = { ...at.page?.counts };
  let full = at.page?.full;
  for (const { runId, closedMs } of runs.filter((run) => run.closedMs >= from)) {
    const interval = intervalOf(closedMs);
    counts[interval] = (counts[interval] ?? 0) + 1;
    if (fresh.size < MAX_HASHES) fresh.add(hashOf(runId));
    else full ??= interval;
  }
  if (token) {
    const page = { token: Buffer.from(token).toString('base64'), top, fresh: [...fresh], full, counts };
    return { found, next: { ...at, page } };
  }
  // Older than the hashes and the last seconds, runs are only counted.
  const end = full === undefined ? intervalOf(at.start ?? from) : Math.min(full + 1, intervalOf(top) - 1);
  const all = pick({ ...at.counts, ...counts }, (interval) => interval >= intervalOf(from));
  const counted = pick(all, (interval) => interval < end);
  const isCounted = full !== undefined || sumOf(counted) > 0;
  const window = isCounted ? { start: Math.max(from, end * INTERVAL_MS), total: sumOf(all) } : { start: from };
  return { found, next: { from, ...window, counts: counted, seen: [...fresh] } };
}

const pick = (counts: Counts, isPicked: (interval: number) => boolean): Counts =>
  Object.fromEntries(Object.entries(counts).filter(([interval]) => isPicked(Number(interval))));

/** Returns counts in short: each interval as its distance to the one before, and its count. */
function shortened(counts: Counts): number[] {
  let last = 0;
  return Object.entries(counts).flatMap(([interval, count]) => {
    const distance = Number(interval) - last;
    last += distance;
    return [distance, count];
  });
}

function lengthened(short: readonly number[]): Counts {
  const counts: Record<string, number> = {};
  for (let n = 0, interval = 0; n < short.length; n += 2) {
    interval += short[n] ?? 0;
    counts[interval] = short[n + 1] ?? 0;
  }
  return counts;
}

/** Returns a position as bytes. */
export function encodePosition({ seen, page, counts, ...window }: FeedPosition): Buffer {
  const ofPage = page && { ...page, fresh: page.fresh.length, counts: shortened(page.counts) };
  const head = { ...window, counts: shortened(counts), page: ofPage };
  const hashes = [...(page?.fresh ?? []), ...seen].map((hash) => Buffer.from(hash, 'base64url'));
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), ...hashes]);
}

/** Milliseconds of years that a query can name: 1 to 9999. */
const ms = z.number().min(-62_135_596_800_000).max(253_402_300_799_999);
const count = z.int().min(0);
const shortCounts = z.array(z.int()).refine(({ length }) => length % 2 === 0);
const headSchema = z.strictObject({
  from: ms.optional(),
  start: ms.optional(),
  counts: shortCounts,
  total: count.optional(),
  page: z
    .strictObject({
      token: z.base64(),
      top: ms,
      fresh: count.max(MAX_HASHES),
      full: z.int().optional(),
      counts: shortCounts,
    })
    .optional(),
});

/** Returns the position of such bytes; undefined for bytes that are none. */
export function decodePosition(bytes: Buffer): FeedPosition | undefined {
  const end = bytes.indexOf('\n');
  const packed = bytes.subarray(end + 1);
  const text = bytes.toString('utf8', 0, Math.max(end, 0));
  const head = headSchema.safeParse(jsonOr(text)).data;
  if (!head || packed.length % HASH_BYTES !== 0) return undefined;
  const { page, counts, ...window } = head;
  const hashes = Array.from({ length: packed.length / HASH_BYTES }, (_, n) =>
    packed.toString('base64url', n * HASH_BYTES, (n + 1) * HASH_BYTES),
  );
  if (page && page.fresh > hashes.length) return undefined;
  const fresh = hashes.splice(0, page?.fresh ?? 0);
  const ofPage = page && { ...page, fresh, counts: lengthened(page.counts) };
  return { ...window, counts: lengthened(counts), seen: hashes, ...(page && { page: ofPage }) };
}
