import { answerAddressList } from './addresses.js';
import { type Answer, isObject, refusal, success } from './answer.js';
import { chooseFault, drawnFault, withFault } from './choose-fault.js';
import type { Creates } from './create.js';
import type { Place } from './fault-types.js';
import type { Life } from './life.js';
import { answerStatus } from './lookups.js';
import { answerList } from './order-list.js';
import { ORDER_TYPES, ratesData } from './rates.js';
import { BadRequest, check, EMPTY_SCHEMA, parseBody } from './requests.js';
import { sameText, sign } from './signature.js';
import { allTermsNow, type World } from './world.js';

/** A request as it came over the wire. Header names are lowercase. */
export interface ServiceRequest {
  path: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Uint8Array;
}

/** What was answered, and about which order. */
export interface Served {
  answer: Answer;
  orderId?: string;
  orderIds?: string[];
}

interface Operation {
  place: Place;
  answer: (value: unknown) => Answer;
}

/** The 12 operations behind signature, headers and request limit. */
export class Service {
  readonly #operations: ReadonlyMap<string, Operation>;
  #recentMs: number[] = [];

  constructor(
    private readonly world: World,
    creates: Creates,
    life: Life,
  ) {
    const on = (path: string, place: Place, answer: Operation['answer']) => [path, { place, answer }] as const;
    this.#operations = new Map<string, Operation>([
      ...ORDER_TYPES.map((type) => on(`/v2/order/${type}`, 'create', (value) => creates.answer(type, value))),
      on('/v2/order/status', 'status', (value) => answerStatus(world, life, value)),
      on('/v2/order/list', 'list', (value) => answerList(world, life, value)),
      on('/v2/deposit_address/create', 'address-create', (value) => creates.answerAddress(value)),
      on('/v2/deposit_address/list', 'address-list', (value) => answerAddressList(world, value)),
      on('/v2/rates', 'rates', (value) => this.#answerEmpty('rates', value, () => ratesData(allTermsNow(world)))),
      on('/v2/balances', 'balances', (value) =>
        this.#answerEmpty('balances', value, () => world.store.ledger.data(world.options.apiKey)),
      ),
    ]);
  }

  /** Name of the fault that a request meets before its body is read, if any. */
  unreadFault(path: string): string | undefined {
    const operation = this.#operations.get(path);
    return operation && drawnFault(this.world, operation.place, '', true)?.name;
  }

  /** Serves one request. Never throws for what a client can send. */
  serve(request: ServiceRequest): Served {
    const operation = this.#operations.get(request.path);
    if (!operation) return { answer: refusal(404, 'no such operation') };
    const refused = this.#refuse(request);
    if (refused) return { answer: refused };
    let about: Pick<Served, 'orderId' | 'orderIds'> = {};
    try {
      const value = parseBody(request.body);
      about = this.#about(value);
      return { answer: operation.answer(value), ...about };
    } catch (error) {
      if (error instanceof BadRequest) return { answer: refusal(400, 'validation failed', error.errors), ...about };
      throw error;
    }
  }

  /** Key and signature first: who cannot sign learns nothing else. */
  #refuse({ headers, body }: ServiceRequest): Answer | undefined {
    const { apiKey, apiSecret, signer } = this.world.options;
    const [key, signature] = [headers['api-key'], headers.signature];
    const signed = typeof key === 'string' && typeof signature === 'string';
    if (!signed || !sameText(key, apiKey) || !sameText(signature, sign(signer, body, apiSecret))) {
      return refusal(401, 'wrong key or signature');
    }
    const waitMs = this.#waitMs();
    if (waitMs > 0) {
      const headers = { 'retry-after': String(Math.ceil(waitMs / 1000)) };
      return { ...refusal(429, 'too many requests'), headers, fault: 'rate-limit' };
    }
    if (headers['content-type'] !== 'application/json') {
      return refusal(400, 'validation failed', { 'Content-Type': 'must be application/json' });
    }
    if (headers.accept !== 'application/json; charset=utf-8') {
      return refusal(400, 'validation failed', { Accept: 'must be application/json; charset=utf-8' });
    }
    return undefined;
  }

  /** How long until the limit admits another request; 0: now, and this one counts. */
  #waitMs(): number {
    const limit = this.world.settings.requestsPerSecond;
    if (limit === null) return 0;
    const nowMs = Date.now();
    this.#recentMs = this.#recentMs.filter((atMs) => atMs > nowMs - 1000);
    const [oldest] = this.#recentMs;
    if (oldest !== undefined && this.#recentMs.length >= limit) return oldest + 1000 - nowMs;
    this.#recentMs.push(nowMs);
    return 0;
  }

  /** Operations on the empty object: the fault, if any, replaces what would have been answered. */
  #answerEmpty(place: Place, value: unknown, data: () => unknown): Answer {
    check(EMPTY_SCHEMA, value);
    return withFault(success(data()), chooseFault(this.world, place, ''), {});
  }

  /** The order or orders a request is about, for the log. */
  #about(value: unknown): Pick<Served, 'orderId' | 'orderIds'> {
    if (!isObject(value)) return {};
    const { order_id: id, order_uuid: uuid, order_ids: ids } = value;
    if (typeof id === 'string') return { orderId: id };
    if (typeof uuid === 'string') return { orderId: this.world.store.orders.get(uuid)?.order.user_order_id };
    const orderIds = Array.isArray(ids) ? ids.filter((item) => typeof item === 'string') : [];
    return orderIds.length > 1 ? { orderIds } : { orderId: orderIds[0] };
  }
}
