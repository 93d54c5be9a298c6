import type { Control } from '../../contract/order/activities.js';

/** When absence is read, as parts of the window: the early readings find what is there, the last proves absence. */
const READING_TIMES = [0, 0.05, 0.2, 0.5, 1];

/** Fewest readings in a row that prove absence, however long they took. */
const MIN_READINGS = 3;

/** Longest wait because of a worker whose clock is behind that of another one. */
const LONGEST_WORKER_WAIT_MS = 15 * 60_000;

/** One reading without our order: asked and answered by the clock of the server, read by that of its worker. */
export interface AbsentReading {
  askedAtMs: number;
  answeredAtMs: number;
  readAtMs: number;
  control: Control;
}

/** What one clock says: from when on readings count, and since when the order is absent. */
interface Clock {
  countFromMs: number;
  sinceMs?: number | undefined;
}

/** From when on absence counts: a create may be sent until `untilMs`. `sinceMs`: when the window began, if before its readings. */
export interface WindowStart {
  untilMs: number;
  sinceMs?: number;
}

/** A proof under way. */
export interface Proof {
  /** Readings in a row that count. */
  readings: number;
  /** When it began, by the server's clock. */
  startedAtMs: number;
  server: Clock;
  worker: Clock;
  /** The last reading hid orders that the service confirmed; 'over': for a whole window. */
  hidden?: 'yet' | 'over';
  /** When to read next, by the server's clock. */
  nextAtMs: number;
}

/** Begins a proof with its first reading. */
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

/** The same proof from now on: nothing that was read before counts. */
export function restart(
  { startedAtMs, server, worker, ...proof }: Proof,
  reading: AbsentReading,
  windowMs: number,
): Proof {
  const { answeredAtMs, readAtMs } = reading;
  const from = {
    ...proof,
    readings: 0,
    startedAtMs,
    server: { countFromMs: Math.max(answeredAtMs, server.countFromMs) },
    worker: { countFromMs: Math.max(readAtMs, worker.countFromMs) },
  };
  return { ...from, nextAtMs: nextReadingAtMs(from, reading, windowMs) };
}

/**
 * THE proof that no order of ours exists: at least three readings in a row over the whole window, by two clocks, each of which
 * shows what the service confirmed before. A workflow lives by the server's clock alone, and one that is set forward would make
 * a few quick readings pass for a long window; the workers that read have clocks of their own.
 */
export function takeReading(
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

/** When both clocks want the next reading. */
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
