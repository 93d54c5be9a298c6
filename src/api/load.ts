import type { ServerResponse } from 'node:http';
import { MAX_CONNECTIONS, type Port } from '../http-port/port.js';

/** Maximum requests of one caller under way, most of which wait for an order. */
const MOST_UNDER_WAY = 100;

/**
 * Shares of the port's connections above which waits end early, and above which only probes are
 * answered.
 */
const [CROWDED, FULL] = [0.8, 0.9];

/** Interval of looking whether waits end early. */
const LOOK_EVERY_MS = 250;

/** Requests under way, so that no caller takes the room of others or of probes. */
export class Load {
  readonly #underWay = new Map<string, number>();
  readonly #ends = new WeakMap<ServerResponse, (() => Promise<unknown>)[]>();

  /** `connections`: those of the port. Senders that are slow end waits early, and refuse nobody. */
  constructor(private readonly connections: Port['connections']) {}

  get isFull(): boolean {
    return this.connections().underWay > FULL * MAX_CONNECTIONS;
  }

  /**
   * Counts a request of a caller or route until its connection is closed and its work has ended.
   * Returns false if it has too many.
   */
  enter(caller: string, response: ServerResponse, most = MOST_UNDER_WAY): boolean {
    const count = this.#underWay.get(caller) ?? 0;
    if (count >= most) return false;
    this.#underWay.set(caller, count + 1);
    response.once('close', async () => {
      await Promise.allSettled((this.#ends.get(response) ?? []).map((end) => end()));
      const left = (this.#underWay.get(caller) ?? 1) - 1;
      if (left > 0) this.#underWay.set(caller, left);
      else this.#underWay.delete(caller);
    });
    return true;
  }

  /**
   * Adds work to a request, whose places it holds also after its caller hung up. `end` is called
   * once the connection is closed, and resolves when the work has ended.
   */
  hold(response: ServerResponse, end: () => Promise<unknown>): void {
    this.#ends.set(response, [...(this.#ends.get(response) ?? []), end]);
  }

  /** Resolves to what is awaited, or to undefined once the port is crowded. */
  async unlessCrowded<T>(awaited: Promise<T>): Promise<T | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const crowded = new Promise<undefined>((resolve) => {
      timer = setInterval(() => {
        if (this.connections().open > CROWDED * MAX_CONNECTIONS) resolve(undefined);
      }, LOOK_EVERY_MS);
    });
    return Promise.race([awaited, crowded]).finally(() => clearInterval(timer));
  }
}
