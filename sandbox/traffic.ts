import { join } from 'node:path';
import { LineFile } from './line-file.js';

/** One request as it was seen; no bodies, no headers. `status` 0: no answer left the sandbox. */
export interface RequestLogEntry {
  atMs: number;
  path: string;
  orderId?: string;
  /** The orders that a list of several asks for. */
  orderIds?: string[];
  status: number;
  /** The fault it met, such as `500-after`. */
  fault?: string;
  /** Indexes (from 0) of list items that the fault `malformed` broke. */
  malformed?: number[];
}

/** One post of a callback. `status` 0: the receiver gave no answer. */
export interface CallbackLogEntry {
  sentAtMs: number;
  answeredAtMs: number;
  orderId: string;
  orderUuid: string;
  /** The status that the order in it had. */
  orderStatus: string;
  status: number;
}

/** A line of the log on disk. */
export type TrafficLine = ({ kind: 'request' } & RequestLogEntry) | ({ kind: 'callback' } & CallbackLogEntry);

/** The requests of one second; `refused` of them were answered 429. */
export interface RequestsOfSecond {
  /** Start of the second, ms since the epoch. */
  atMs: number;
  requests: number;
  refused: number;
}

/**
 * What went in and out, for those who look at the sandbox from outside. With a data directory every line is also on disk,
 * where it outlives a kill; it is not read back: counters are those of this process.
 */
export class Traffic {
  readonly requests: RequestLogEntry[] = [];
  readonly callbacks: CallbackLogEntry[] = [];
  readonly requestsByPath = new Map<string, number>();
  callbacksSent = 0;
  callbacksAcked = 0;
  readonly #seconds = new Map<number, RequestsOfSecond>();
  readonly #file: LineFile | undefined;

  constructor(dataDir: string | undefined) {
    this.#file = dataDir === undefined ? undefined : new LineFile(join(dataDir, 'traffic.ndjson'));
  }

  request(entry: RequestLogEntry): void {
    this.requests.push(entry);
    this.requestsByPath.set(entry.path, (this.requestsByPath.get(entry.path) ?? 0) + 1);
    const atMs = entry.atMs - (entry.atMs % 1000);
    const second = this.#seconds.get(atMs) ?? { atMs, requests: 0, refused: 0 };
    second.requests += 1;
    if (entry.status === 429) second.refused += 1;
    this.#seconds.set(atMs, second);
    this.#write({ kind: 'request', ...entry });
  }

  /** Requests of every second that had any, oldest first. */
  perSecond(): RequestsOfSecond[] {
    return [...this.#seconds.values()].map((second) => ({ ...second }));
  }

  /** The most requests that came within any time span of that length, wherever it begins; refused ones count. */
  busiest(windowMs: number): number {
    let [first, most] = [0, 0];
    for (const [last, { atMs }] of this.requests.entries()) {
      while ((this.requests[first]?.atMs ?? atMs) <= atMs - windowMs) first += 1;
      most = Math.max(most, last - first + 1);
    }
    return most;
  }

  /** A callback that was answered, or will not be. */
  callback(entry: CallbackLogEntry): void {
    this.callbacks.push(entry);
    this.#write({ kind: 'callback', ...entry });
  }

  close(): void {
    this.#file?.close();
  }

  #write(line: TrafficLine): void {
    this.#file?.append(JSON.stringify(line));
  }
}
