import { answerAddressCreate, answerAddressList } from './addresses.js';
import { type Answer, isObject, refusal, success } from './answer.js';
import type { Creates } from './create.js';
import { type Place, withFault } from './faults.js';
import { answerList, answerStatus } from './lookups.js';
import { ORDER_TYPES, ratesData } from './rates.js';
import { BadRequest, check, EMPTY_SCHEMA, parseBody } from './requests.js';
import { sameText, sign } from './signature.js';
import { chooseFault, type World } from './world.js';

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
}

type Operation = (value: unknown) => Answer;

/** The 12 operations behind signature, headers and request limit. */
export class Service {
  readonly #operations: ReadonlyMap<string, Operation>;
  #recentMs: number[] = [];

  constructor(
    private readonly world: World,
    creates: Creates,
  ) {
    this.#operations = new Map<string, Operation>([
      ...ORDER_TYPES.map((type) => [`/v2/order/${type}`, (value: unknown) => creates.answer(type, value)] as const),
      ['/v2/order/status', (value) => answerStatus(world, value)],
      ['/v2/order/list', (value) => answerList(world, value)],
      [
        '/v2/deposit_address/create',
        (value) => this.#faulty('address', value, (body) => answerAddressCreate(world, body)),
      ],
      ['/v2/deposit_address/list', (value) => this.#faulty('address', value, (body) => answerAddressList(world, body))],
      ['/v2/rates', (value) => this.#faulty('rates', value, (body) => empty(body, ratesData))],
      ['/v2/balances', (value) => this.#faulty('balances', value, (body) => empty(body, () => this.#balances()))],
    ]);
  }

  /** Serves one request. Never throws for what a client can send. */
  serve(request: ServiceRequest): Served {
    const operation = this.#operations.get(request.path);
    if (!operation) return { answer: refusal(404, 'no such operation') };
    const refused = this.#refuse(request);
    if (refused) return { answer: refused };
    let orderId: string | undefined;
    try {
      const value = parseBody(request.body);
      orderId = this.#orderIdOf(value);
      return { answer: operation(value), orderId };
    } catch (error) {
      if (error instanceof BadRequest) return { answer: refusal(400, 'validation failed', error.errors), orderId };
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
    if (this.#tooFast()) return { ...refusal(429, 'too many requests'), headers: { 'retry-after': '1' } };
    if (headers['content-type'] !== 'application/json') {
      return refusal(400, 'validation failed', { 'Content-Type': 'must be application/json' });
    }
    if (headers.accept !== 'application/json; charset=utf-8') {
      return refusal(400, 'validation failed', { Accept: 'must be application/json; charset=utf-8' });
    }
    return undefined;
  }

  #tooFast(): boolean {
    const limit = this.world.settings.requestsPerSecond;
    if (limit === null) return false;
    const nowMs = Date.now();
    this.#recentMs = this.#recentMs.filter((atMs) => atMs > nowMs - 1000);
    if (this.#recentMs.length >= limit) return true;
    this.#recentMs.push(nowMs);
    return false;
  }

  #balances(): unknown {
    return this.world.store.ledger.data(this.world.options.apiKey);
  }

  /** Operations that are not about one order: the fault, if any, replaces what would have been answered. */
  #faulty(place: Place, value: unknown, operation: Operation): Answer {
    const chosen = chooseFault(this.world, place, '');
    const plain = chosen?.timing === 'before' && place === 'address' ? success({}) : operation(value);
    return withFault(plain, chosen, {});
  }

  /** The one order a request is about, for the log. */
  #orderIdOf(value: unknown): string | undefined {
    if (!isObject(value)) return undefined;
    const { order_id: id, order_uuid: uuid, order_ids: ids } = value;
    if (typeof id === 'string') return id;
    if (typeof uuid === 'string') return this.world.store.orders.get(uuid)?.order.user_order_id;
    return Array.isArray(ids) && ids.length === 1 && typeof ids[0] === 'string' ? ids[0] : undefined;
  }
}

function empty(value: unknown, data: () => unknown): Answer {
  check(EMPTY_SCHEMA, value);
  return success(data());
}
