import type { Socket } from 'node:net';
import { Connection } from './connection.js';

/** Connections open at once. */
export const MAX_CONNECTIONS = 1_000;

/** Connections of one sender: many more than the service needs, which waits on each for one signal to Temporal. */
export const MAX_CONNECTIONS_PER_SENDER = 250;

const CHECK_INTERVAL_MS = 250;

/** Why a connection was closed without an answer: too late, to make room for another one, or for want of room. */
export type Cut = 'slow' | 'displaced' | 'noRoom';

/** Sender of the connections of a trusted proxy, until the proxy names the sender. */
export const PROXY = 'proxy';

/** Limits of a port. `maxBytes`: largest request, headers included. `onCut`: called for each connection that is cut. */
export interface PortLimits {
  maxBytes: number;
  /** Time for headers and body together, and again for the reading of the answer. */
  maxWaitMs?: number;
  onCut?: (why: Cut) => void;
}

/**
 * Limits open connections. A connection waits until its request has come as a whole, and again while its answer is read. At each
 * limit the connection that has waited longest makes room: a genuine one waits for milliseconds.
 */
export class Connections {
  /** In the order in which their waits began. */
  readonly #waiting = new Set<Connection>();
  readonly #bySender = new Map<string, Set<Connection>>();
  readonly #check = setInterval(() => this.#cutSlow(), CHECK_INTERVAL_MS).unref();
  #count = 0;

  constructor(private readonly limits: PortLimits) {}

  /** A new connection; undefined when there is no room for it, and it was closed. */
  open(socket: Socket, sender: string): Connection | undefined {
    if (!this.#makeRoomFor(sender) || (this.#count >= MAX_CONNECTIONS && !this.#displace(this.#waiting))) {
      this.limits.onCut?.('noRoom');
      socket.resetAndDestroy();
      return undefined;
    }
    const connection = new Connection(socket, sender, this.limits.maxBytes, (own, waits) => this.#wait(own, waits));
    connection.once('close', () => this.#forget(connection));
    this.#count += 1;
    this.#waiting.add(connection);
    this.#of(sender).add(connection);
    return connection;
  }

  /** Counts a connection of a proxy for whom it forwards; false when that sender has too many of them. */
  assign(connection: Connection, sender: string): boolean {
    if (connection.sender === sender) return true;
    if (!this.#makeRoomFor(sender)) return false;
    this.#leave(connection);
    connection.sender = sender;
    this.#of(sender).add(connection);
    return true;
  }

  /** Ends the connections on which nothing has come yet. */
  closeIdle(): void {
    for (const connection of this.#waiting) if (connection.bytesRead === 0) connection.destroy();
  }

  /** Ends all connections and the search for slow ones. */
  closeAll(): void {
    clearInterval(this.#check);
    for (const own of this.#bySender.values()) for (const connection of own) connection.cut();
  }

  #makeRoomFor(sender: string): boolean {
    const own = this.#bySender.get(sender) ?? new Set();
    return sender === PROXY || own.size < MAX_CONNECTIONS_PER_SENDER || this.#displace(own);
  }

  #displace(among: ReadonlySet<Connection>): boolean {
    for (const connection of among) if (this.#waiting.has(connection)) return this.#cut(connection, 'displaced');
    return false;
  }

  #wait(connection: Connection, waits: boolean): void {
    if (!waits) this.#waiting.delete(connection);
    else if (!connection.destroyed && !this.#waiting.has(connection)) {
      connection.waitsSinceMs = performance.now();
      this.#waiting.add(connection);
    }
  }

  #cutSlow(): void {
    const since = performance.now() - (this.limits.maxWaitMs ?? 5_000);
    for (const connection of this.#waiting) {
      if (connection.waitsSinceMs > since) return;
      this.#cut(connection, 'slow');
    }
  }

  #cut(connection: Connection, why: Cut): true {
    // One that has its answer and did not hang up is ended without a word.
    if (!connection.answered) this.limits.onCut?.(why);
    this.#forget(connection);
    connection.cut();
    return true;
  }

  #of(sender: string): Set<Connection> {
    const own = this.#bySender.get(sender) ?? new Set();
    this.#bySender.set(sender, own);
    return own;
  }

  /** False when it was gone already. */
  #leave(connection: Connection): boolean {
    const own = this.#bySender.get(connection.sender);
    const left = own?.delete(connection) ?? false;
    if (own?.size === 0) this.#bySender.delete(connection.sender);
    return left;
  }

  #forget(connection: Connection): void {
    this.#waiting.delete(connection);
    if (this.#leave(connection)) this.#count -= 1;
  }
}
