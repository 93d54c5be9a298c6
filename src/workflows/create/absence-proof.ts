import type { Control } from '../../contract/order/activities.js';

/** Reading times as parts of the window: early ones find an order, the last proves absence. */
const READING_TIMES = [0, 0.05, 0.2, 0.5, 1];

/** Fewest readings in a row that prove absence. */
const MIN_READINGS = 3;

/** Longest wait for a worker whose clock is behind. */
const LONGEST_WORKER_WAIT_MS = 15 * 60_000;

/**
 * A reading without our order. `readAtMs` is by the worker's clock, the others are by the server's.
 */
export interface AbsentReading {
  askedAtMs: number;
  answeredAtMs: number;
  readAtMs: number;
  control: Control;
}

/** Start of the readings that count, and of the absence, by one clock. */
interface Clock {
  countFromMs: number;
  sinceMs?: number | undefined;
}

/** Absence counts after `untilMs`. `sinceMs`: start of the window, if before its readings. */
interface WindowStart {
  untilMs: number;
  sinceMs?: number;
}

/** A proof in progress. Times are by the Temporal server's clock. */
export interface Proof {
  readings: number;
  startedAtMs: number;
  server: Clock;
  worker: Clock;
  /** The last reading hid orders that the service confirmed; 'over': for a whole window. */
  hidden?: 'yet' | 'over';
  nextAtMs: number;
}

function begin({ untilMs, sinceMs }: WindowStart, { askedAtMs, readAtMs }: AbsentReading): Proof {
  const workerFromMs = readAtMs + Math.max(0, untilMs - askedAtMs);
  return {
    readings: 0,
    startedAtMs: askedAtMs,
    server: { countFromMs: untilMs, sinceMs },
    worker: { countFromMs: workerFromMs, sinceMs },
    nextAtMs: askedAtMs,
  };
}

/** Restarts a proof: earlier readings do not count. */
export function restart({ server, worker, ...proof }: Proof, reading: AbsentReading, windowMs: number): Proof {
  const { answeredAtMs, readAtMs } = reading;
  const from = {
    ...proof,
    readings: 0,
    server: { countFromMs: Math.max(answeredAtMs, server.countFromMs) },
    worker: { countFromMs: Math.max(readAtMs, worker.countFromMs) },
  };
  return { ...from, nextAtMs: nextReadingAtMs(from, reading, windowMs) };
}

/**
 * Applies a reading to the proof that our order does not exist: three or more in a row over the
 * whole window, by the clocks of server and workers. Each must show the orders that the service
 * confirmed.
 */
export function applyReading(
  before: Proof | undefined,
  start: WindowStart,
  reading: AbsentReading,
  windowMs: number,
): { proof: Proof; isProven: boolean } {
  const proof = before ?? begin(start, reading);
  const { askedAtMs, answeredAtMs, readAtMs, control } = reading;
  if (!control.whole) {
    const isOver = answeredAtMs - Math.max(proof.startedAtMs, start.untilMs) >= windowMs;
    return { proof: { ...restart(proof, reading, windowMs), hidden: isOver ? 'over' : 'yet' }, isProven: false };
  }
  const { server, worker, startedAtMs, readings } = proof;
  const counts = askedAtMs >= server.countFromMs && readAtMs >= worker.countFromMs;
  const clocks = counts
    ? {
        server: { ...server, sinceMs: server.sinceMs ?? answeredAtMs },
        worker: { ...worker, sinceMs: worker.sinceMs ?? readAtMs },
      }
    : { server, worker };
  const nextAtMs = nextReadingAtMs(clocks, reading, windowMs);
  const counted: Proof = { ...clocks, startedAtMs, nextAtMs, readings: counts ? readings + 1 : readings };
  if (!counts) return { proof: counted, isProven: false };
  const spans = [askedAtMs - (counted.server.sinceMs ?? 0), readAtMs - (counted.worker.sinceMs ?? 0)];
  return { proof: counted, isProven: counted.readings >= MIN_READINGS && spans.every((ms) => ms >= windowMs) };
}

function nextReadingAtMs(
  { server, worker }: Pick<Proof, 'server' | 'worker'>,
  { answeredAtMs, readAtMs }: AbsentReading,
  windowMs: number,
): number {
  const byWorkerMs = Math.min(untilNextMs(worker, readAtMs, windowMs), LONGEST_WORKER_WAIT_MS);
  return answeredAtMs + Math.max(untilNextMs(server, answeredAtMs, windowMs), byWorkerMs);
}

function untilNextMs({ countFromMs, sinceMs = countFromMs }: Clock, nowMs: number, windowMs: number): number {
  const times = READING_TIMES.map((part) => sinceMs + part * windowMs);
  return (times.find((timeMs) => timeMs > nowMs) ?? nowMs + 0.05 * windowMs) - nowMs;
}
