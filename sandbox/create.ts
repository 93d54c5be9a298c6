import { randomUUID } from 'node:crypto';
import { createAddress } from './addresses.js';
import { type Answer, refusal, success } from './answer.js';
import { chooseFault, type MarkedPlace, withFault } from './choose-fault.js';
import type { Life } from './life.js';
import { type Marker, markerNumber, readMarker } from './markers.js';
import { checkMarker, newOrder } from './new-order.js';
import type { OrderType } from './rates.js';
import { ADDRESS_SCHEMA, type CreateBody, check, checkCreate } from './requests.js';
import type { Create, QueuedCreate } from './stored.js';
import { Timers } from './timers.js';
import type { World } from './world.js';

/** A create as it is taken: where its faults are, what they go by, and the text that may hold a marker. */
interface Request {
  place: MarkedPlace;
  key: string;
  description: string | null;
  create: Create;
}

/** The six order creations and the creation of permanent addresses. */
export class Creates {
  readonly #timers = new Timers();

  constructor(
    private readonly world: World,
    private readonly life: Life,
  ) {}

  /** Answers the creation of an order. Throws BadRequest. */
  answer(type: OrderType, value: unknown): Answer {
    const body = checkCreate(type, value);
    const description = body.description ?? null;
    newOrder(this.world, type, body, checkMarker('description', description));
    return this.#take({ place: 'create', key: body.order_id, description, create: { type, body } });
  }

  /** Answers the creation of a permanent address, whose title may hold a marker. Throws BadRequest. */
  answerAddress(value: unknown): Answer {
    const body = check(ADDRESS_SCHEMA, value);
    const description = body.address_title ?? null;
    checkMarker('address_title', description);
    createAddress(this.world, body);
    // A repeated request is known by its callback URL: nothing else tells one address from another.
    const key = `address\0${body.callback_url ?? description ?? ''}`;
    return this.#take({ place: 'address-create', key, description, create: { type: 'address', body } });
  }

  /** Goes on with what an earlier run had queued. */
  resume(): void {
    for (const create of this.world.store.queued.values()) this.#await(create);
  }

  stop(): void {
    this.#timers.stop();
  }

  #take({ place, key, description, create }: Request): Answer {
    const { store } = this.world;
    store.keep({ kind: 'create', key, description });
    const marker = store.markerOf(key);
    const chosen = chooseFault(this.world, place, key);
    if (chosen?.timing === 'later') this.#queue(create, markerNumber(marker, 'later_ms') ?? 1000);
    const executes = chosen === undefined || chosen.timing === 'after';
    if (executes && chosen?.fault.twice) {
      store.keep({ kind: 'create', key, description });
      this.#execute(create);
    }
    return withFault(executes ? this.#execute(create) : success({}), chosen, marker);
  }

  #execute(create: Create): Answer {
    if (create.type !== 'address') return this.#executeOrder(create.type, create.body);
    const address = createAddress(this.world, create.body);
    this.world.store.keep({ kind: 'address', address });
    return success(address);
  }

  #executeOrder(type: OrderType, body: CreateBody): Answer {
    const { store, settings } = this.world;
    const marker: Marker = readMarker(body.description);
    const [existing] = store.ordersOf(body.order_id);
    const mode = marker.duplicate ?? settings.duplicateMode;
    if (!existing || mode === 'c') return success(this.life.begin(newOrder(this.world, type, body, marker)).order);
    if (mode === 'b') return success(existing.order);
    if (mode === 'd') return refusal(409, 'order_id is already used');
    if (mode === 'e') return refusal(500, 'internal error');
    return refusal(400, 'validation failed', { order_id: 'is already used' });
  }

  #queue(create: Create, delayMs: number): void {
    const queued = { ...create, id: randomUUID(), dueAtMs: Date.now() + delayMs };
    this.world.store.keep({ kind: 'queued', create: queued });
    this.#await(queued);
  }

  #await(queued: QueuedCreate): void {
    this.#timers.at(queued.dueAtMs, () => {
      this.#execute(queued);
      this.world.store.keep({ kind: 'unqueued', id: queued.id });
    });
  }
}
