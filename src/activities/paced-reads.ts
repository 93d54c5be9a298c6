import { cancellationSignal, sleep } from '@temporalio/activity';
import type { PaymentService } from '../payment-service/client.js';
import {
  InvalidRequestError,
  PaymentServiceError,
  RateLimitedError,
  RejectedError,
  TooManyValuesError,
} from '../payment-service/errors.js';
import type { List } from '../payment-service/paging.js';
import type { CallOptions } from '../payment-service/transport.js';
import type { Account } from './deps.js';

/** Attempts per read, so that one lost answer does not fail a scan of hundreds. */
const TRIES = 6;
const FIRST_WAIT_MS = 1_000;

/**
 * Reads of one scan, at a tenth of the account's turns. Each read is repeated a few times. `turn`:
 * 'read' if orders wait for them: that gets each turn that no create or look-up needs.
 */
export class PacedReads {
  constructor(
    private readonly account: Pick<Account, 'service'>,
    private readonly tries = TRIES,
    private readonly turn: 'scan' | 'read' = 'scan',
  ) {}

  /** Order list; each page is one read. */
  orders = () => this.#list((service, options) => service.orders(options));

  /** Deposit address list; each page is one read. */
  addresses = () => this.#list((service, options) => service.addresses(options));

  #list<T, Q>(of: (service: PaymentService, options?: CallOptions) => List<T, Q>): List<T, Q> {
    return {
      ...of(this.account.service),
      page: (query) => this.ask((service, options) => of(service, options).page(query)),
    };
  }

  /** Runs one read at its turn. Throws the service's last error. */
  async ask<T>(read: (service: PaymentService, options: CallOptions) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await read(this.account.service, { turn: this.turn, signal: cancellationSignal() });
      } catch (error) {
        if (attempt >= this.tries || !mayPass(error)) throw error;
        await sleep(error instanceof RateLimitedError ? error.retryAfterMs : FIRST_WAIT_MS * 2 ** (attempt - 1));
      }
    }
  }
}

/** Returns true for errors that may pass. */
const mayPass = (error: unknown): error is PaymentServiceError =>
  error instanceof PaymentServiceError &&
  !(error instanceof InvalidRequestError) &&
  !(error instanceof RejectedError) &&
  !(error instanceof TooManyValuesError);

/** Maps items with up to `concurrency` at a time, and yields results in the items' order. */
export async function* mapInOrder<T, R>(
  items: AsyncIterable<T> | Iterable<T>,
  concurrency: number,
  map: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const underWay: Promise<R>[] = [];
  for await (const item of items) {
    const result = map(item);
    // Awaited below in its turn. Until then, an error must not count as unhandled.
    result.catch(() => undefined);
    underWay.push(result);
    const [first] = underWay;
    if (!first || underWay.length < concurrency) continue;
    yield await first;
    underWay.shift();
  }
  for (const result of underWay) yield await result;
}
