import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** Bytes given to HTTP at a time: of 64 KiB it would handle thousands of requests at once. */
const PIECE_BYTES = 512;

/** Connections of a port: all of them, and in the order in which their waits began those that wait for their sender. */
export interface Connections {
  open: Set<Connection>;
  waiting: Set<Connection>;
}

/** A connection of which the HTTP library gets to see one request and no byte more. */
export class Connection extends Duplex {
  /** Set once the headers were read. */
  response: ServerResponse | undefined;
  waitsSinceMs = performance.now();

  constructor(
    readonly socket: Socket,
    private readonly all: Connections,
  ) {
    super({ allowHalfOpen: true });
    all.open.add(this);
    all.waiting.add(this);
    socket.on('data', (chunk) => this.#take(chunk));
    // Nobody who stops in the middle waits for an answer; whoever ends their side behind a whole request does.
    socket.on('end', () => {
      if (!this.request?.complete) this.destroy();
    });
    socket.on('close', () => this.destroy());
    // Nothing is to be done about an answer that can no longer be written.
    this.on('error', () => undefined);
  }

  get request(): IncomingMessage | undefined {
    return this.response?.req;
  }

  /** True once it has its answer: nothing more is read. */
  get answered(): boolean {
    return this.writableEnded || this.response?.headersSent === true;
  }

  /** Ends it at once, whatever is under way. */
  cut(): void {
    this.socket.resetAndDestroy();
    this.destroy();
  }

  #take(chunk: Buffer): void {
    // A sender that is answered before it has sent all gets to read the answer.
    for (let at = 0; at < chunk.length && !this.answered; at += PIECE_BYTES) {
      this.push(chunk.subarray(at, at + PIECE_BYTES));
      if (this.request?.complete) {
        // What follows, a second request for instance, stays where it is and is never read.
        this.socket.pause();
        // An answer given at once waits for its reader already.
        if (!this.answered) this.all.waiting.delete(this);
        return;
      }
    }
  }

  override _read(): void {
    // Pieces are pushed as they come.
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    if (this.answered && !this.all.waiting.has(this)) {
      this.waitsSinceMs = performance.now();
      this.all.waiting.add(this);
    }
    this.socket.write(chunk, done);
  }

  /** The answer was written: the connection ends, at once if all of the request was read. */
  override _final(done: () => void): void {
    if (this.request?.complete) this.socket.destroySoon();
    else this.socket.end();
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.all.open.delete(this);
    this.all.waiting.delete(this);
    this.socket.destroy();
    done(error);
  }
}
