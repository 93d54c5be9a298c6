import { join } from 'node:path';
import { LineFile } from './line-file.js';

/** One request as it was seen; no bodies, no headers. `status` 0: no answer left the sandbox. */
export interface RequestLogEntry {
  atMs: number;
  path: string;
  orderId?: string;
  status: number;
  /** The fault it met, such as `500-after`. */
  fault?: string;
}

/** One post of a callback. `status` 0: the receiver gave no answer. */
export interface CallbackLogEntry {
  sentAtMs: number;
  answeredAtMs: number;
  orderId: string;
  orderUuid: string;
  status: number;
}

/** A line of the log on disk. */
export type TrafficLine = ({ kind: 'request' } & RequestLogEntry) | ({ kind: 'callback' } & CallbackLogEntry);

/**
 * What went in and out, for those who look at the sandbox from outside. With a data directory every line is also on disk,
 * where it outlives a kill; it is not read back: counters are those of this process.
 */
export class Traffic {
  readonly requests: RequestLogEntry[] = [];
  callbacksSent = 0;
  callbacksAcked = 0;
  readonly #file: LineFile | undefined;

  constructor(dataDir: string | undefined) {
    this.#file = dataDir === undefined ? undefined : new LineFile(join(dataDir, 'traffic.ndjson'));
  }

  request(entry: RequestLogEntry): void {
    this.requests.push(entry);
    this.#write({ kind: 'request', ...entry });
  }

  /** A callback that was answered, or will not be. */
  callback(entry: CallbackLogEntry): void {
    this.#write({ kind: 'callback', ...entry });
  }

  close(): void {
    this.#file?.close();
  }

  #write(line: TrafficLine): void {
    this.#file?.append(JSON.stringify(line));
  }
}
