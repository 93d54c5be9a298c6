import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** Bytes that HTTP gets at a time, so that one piece holds few requests. */
const PIECE_BYTES = 512;

/** Connections of a port: all, and the waiting ones in the order of their waits. */
export interface Connections {
  open: Set<Connection>;
  waiting: Set<Connection>;
}

/** Connection that passes exactly one request to the HTTP library. */
export class Connection extends Duplex {
  /** Set after the headers were read. */
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
    // A sender that stops in the middle awaits no answer; one that closes after its request does.
    socket.on('end', () => {
      if (!this.request?.complete) this.destroy();
    });
    socket.on('close', () => this.destroy());
    // An answer that cannot be written any more needs no action.
    this.on('error', () => undefined);
  }

  get request(): IncomingMessage | undefined {
    return this.response?.req;
  }

  /** Returns true after the answer. Nothing more is read. */
  get answered(): boolean {
    return this.writableEnded || this.response?.headersSent === true;
  }

  /** Closes the connection at once. */
  cut(): void {
    this.socket.resetAndDestroy();
    this.destroy();
  }

  #take(chunk: Buffer): void {
    // A sender that gets an early answer can still read it.
    for (let at = 0; at < chunk.length && !this.answered; at += PIECE_BYTES) {
      this.push(chunk.subarray(at, at + PIECE_BYTES));
      if (this.request?.complete) {
        // Later bytes, such as a second request, are never read.
        this.socket.pause();
        // An early answer already waits for its reader.
        if (!this.answered) this.all.waiting.delete(this);
        return;
      }
    }
  }

  override _read(): void {
    // Pieces are pushed as they arrive.
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    if (this.answered) this.#awaitReader();
    this.socket.write(chunk, (error) => {
      // The reader read all that a long answer has so far. A `100 Continue` is no answer.
      if (this.response?.headersSent && !this.response.writableEnded) this.all.waiting.delete(this);
      done(error);
    });
  }

  #awaitReader(): void {
    // The longest wait stands first.
    this.all.waiting.delete(this);
    this.waitsSinceMs = performance.now();
    this.all.waiting.add(this);
  }

  /** Ends the connection after the answer, at once if the whole request was read. */
  override _final(done: () => void): void {
    this.#awaitReader();
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
