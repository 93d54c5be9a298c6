import type { Socket } from 'node:net';
import { Connection } from './connection.js';

/** Connections open at once. */
export const MAX_CONNECTIONS = 1_000;

/** Those of one sender: many more than the service needs, which holds each for as long as Temporal takes for a signal. */
export const MAX_CONNECTIONS_PER_SENDER = 250;

/** Time for headers and body together. */
export const REQUEST_LIMIT_MS = 5_000;

/** Whoever has sent so much as a request by then is not slow. */
const SLOW_AFTER_MS = 1_000;

const CHECK_INTERVAL_MS = 250;

/** Why a connection was closed without an answer: too late, to make room for another one, or for want of room. */
export type Cut = 'slow' | 'displaced' | 'noRoom';

/** The sender of connections that a trusted proxy makes, until it is known for whom. */
export const PROXY = 'proxy';

/**
 * Keeps open connections few. A connection waits until its request has come as a whole. At the limit of a sender its slow ones make
 * room, and where none is slow the new one is closed. At the limit of all it is the one that has waited longest: a genuine one waits
 * for milliseconds.
 */
export class Connections {
  /** In the order of their opening. */
  readonly #waiting = new Set<Connection>();
  readonly #bySender = new Map<string, Set<Connection>>();
  readonly #check = setInterval(() => this.#cutSlow(), CHECK_INTERVAL_MS).unref();
  #count = 0;

  constructor(private readonly onCut: (why: Cut) => void) {}

  /** A new connection; undefined when there is no room for it, and it was closed. */
  open(socket: Socket, sender: string): Connection | undefined {
    if (!this.#makeRoomFor(sender) || !this.#makeRoom()) {
      this.onCut('noRoom');
      socket.resetAndDestroy();
      return undefined;
    }
    const connection = new Connection(socket, sender, (complete) => this.#waiting.delete(complete));
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

  /** Ends all connections and the looking for slow ones. */
  closeAll(): void {
    clearInterval(this.#check);
    for (const own of this.#bySender.values()) for (const connection of own) connection.cut();
  }

  #makeRoomFor(sender: string): boolean {
    const own = this.#bySender.get(sender);
    if (sender === PROXY || own === undefined || own.size < MAX_CONNECTIONS_PER_SENDER) return true;
    const slowSince = performance.now() - SLOW_AFTER_MS;
    for (const connection of own) {
      if (connection.openedAtMs > slowSince) return false;
      if (this.#waiting.has(connection)) return this.#cut(connection, 'displaced');
    }
    return false;
  }

  #makeRoom(): boolean {
    if (this.#count < MAX_CONNECTIONS) return true;
    const [longest] = this.#waiting;
    return longest !== undefined && this.#cut(longest, 'displaced');
  }

  #cutSlow(): void {
    const since = performance.now() - REQUEST_LIMIT_MS;
    for (const connection of this.#waiting) {
      if (connection.openedAtMs > since) return;
      this.#cut(connection, 'slow');
    }
  }

  #cut(connection: Connection, why: Cut): true {
    // One that has its answer and did not hang up is ended without a word.
    if (!connection.answered) this.onCut(why);
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
