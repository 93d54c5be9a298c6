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

/** A scan is begun anew when its activity fails, so that one lost answer of hundreds must not fail it. Others name their own. */
const TRIES = 6;
const FIRST_WAIT_MS = 1_000;

/** The reads of one scan, which get a tenth of the account's turns; each is tried again a few times before it fails the scan. */
export class PacedReads {
  constructor(
    private readonly account: Pick<Account, 'service'>,
    private readonly tries = TRIES,
  ) {}

  /** The order list, of which each page is one read. */
  orders = () => this.#list((service, options) => service.orders(options));

  /** The deposit address list, of which each page is one read. */
  addresses = () => this.#list((service, options) => service.addresses(options));

  #list<T, Q>(of: (service: PaymentService, options?: CallOptions) => List<T, Q>): List<T, Q> {
    return {
      ...of(this.account.service),
      page: (query) => this.ask((service, options) => of(service, options).page(query)),
    };
  }

  /** One read in its turn. Throws the last error of the service. */
  async ask<T>(read: (service: PaymentService, options: CallOptions) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await read(this.account.service, { turn: 'scan', signal: cancellationSignal() });
      } catch (error) {
        if (attempt >= this.tries || !mayPass(error)) throw error;
        await sleep(error instanceof RateLimitedError ? error.retryAfterMs : FIRST_WAIT_MS * 2 ** (attempt - 1));
      }
    }
  }
}

/** Returns true for errors that may pass by themselves. */
const mayPass = (error: unknown): error is PaymentServiceError =>
  error instanceof PaymentServiceError &&
  !(error instanceof InvalidRequestError) &&
  !(error instanceof RejectedError) &&
  !(error instanceof TooManyValuesError);

/** Maps items with up to `concurrency` of them under way; the results come in the order of the items. */
export async function* mapInOrder<T, R>(
  items: AsyncIterable<T> | Iterable<T>,
  concurrency: number,
  map: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const underWay: Promise<R>[] = [];
  for await (const item of items) {
    const result = map(item);
    // Awaited below in its turn; an error that comes before that must not count as one that nobody handles.
    result.catch(() => undefined);
    underWay.push(result);
    const [first] = underWay;
    if (!first || underWay.length < concurrency) continue;
    yield await first;
    underWay.shift();
  }
  for (const result of underWay) yield await result;
}
