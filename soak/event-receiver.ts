import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { EventRefusedError, verifyEvent } from '../src/index.js';

/** A backend's receiver of events, which verifies each of them. */
export class EventReceiver {
  readonly secret = `whsec_${randomBytes(32).toString('base64')}`;
  /** Ids of the orders that ended by an event. */
  readonly ended = new Set<string>();
  /** Events that were refused, or came before an earlier one of their run. */
  readonly problems: string[] = [];
  received = 0;
  readonly #newest = new Map<string, number>();
  readonly #server = createServer((request, response) => {
    const answer = async () => {
      const body = Buffer.concat(await request.toArray());
      response.writeHead(this.#accept(body, request.headers) ? 204 : 400).end();
    };
    // A worker that was killed breaks off its request.
    answer().catch(() => response.destroy());
  });

  /** Listens on a free port of 127.0.0.1. */
  static async open(): Promise<EventReceiver> {
    const receiver = new EventReceiver();
    receiver.#server.listen(0, '127.0.0.1');
    await once(receiver.#server, 'listening');
    return receiver;
  }

  /** Returns the content of EVENTS_FILE. */
  get file(): string {
    const { port } = this.#server.address() as { port: number };
    const url = `http://127.0.0.1:${port}/events`;
    return JSON.stringify([{ name: 'soak', url, secrets: [this.secret], allowPrivate: true }]);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #accept(body: Buffer, headers: Parameters<typeof verifyEvent>[1]): boolean {
    try {
      const { id, type, data } = verifyEvent(body, headers, this.secret);
      this.received += 1;
      this.#checkSequence(id);
      if (type === 'order.ended' && 'order_id' in data) this.ended.add(`${data.order_id}`);
      return true;
    } catch (error) {
      if (!(error instanceof EventRefusedError)) throw error;
      this.problems.push(error.message);
      return false;
    }
  }

  /** An id is the run and the number of the event in it; copies may come at any time. */
  #checkSequence(id: string): void {
    const [run = '', number = ''] = id.split('.');
    const newest = this.#newest.get(run) ?? 0;
    if (Number(number) > newest + 1) this.problems.push(`event ${number} of run ${run} came after ${newest}`);
    this.#newest.set(run, Math.max(newest, Number(number)));
  }
}
