import { randomUUID } from 'node:crypto';
import { type Answer, refusal, success } from './answer.js';
import { withFault } from './faults.js';
import type { Life } from './life.js';
import { type Marker, markerNumber, readMarker } from './markers.js';
import { checkMarker, newOrder } from './new-order.js';
import type { NewOrder } from './orders.js';
import type { OrderType } from './rates.js';
import { type CreateBody, checkCreate } from './requests.js';
import type { QueuedCreate } from './store.js';
import { Timers } from './timers.js';
import { chooseFault, type World } from './world.js';

/** The six create operations. */
export class Creates {
  readonly #timers = new Timers();

  constructor(
    private readonly world: World,
    private readonly life: Life,
  ) {}

  /** Answers a create. Throws BadRequest. */
  answer(type: OrderType, value: unknown): Answer {
    const { store } = this.world;
    const body = checkCreate(type, value);
    const marker = checkMarker(body.description);
    const made = newOrder(this.world, type, body, marker);
    const { order_id: orderId } = body;
    store.keep({ kind: 'create', orderId, description: body.description ?? null, atMs: Date.now() });
    const chosen = chooseFault(this.world, 'create', orderId);
    if (chosen?.timing === 'later') this.#queue(type, body, markerNumber(marker, 'later_ms') ?? 1000);
    const executes = chosen === undefined || chosen.timing === 'after';
    const plain = executes ? this.#execute(orderId, made, marker) : success({});
    return withFault(plain, chosen, marker);
  }

  /** Goes on with what an earlier run had queued. */
  resume(): void {
    for (const create of this.world.store.queued.values()) this.#await(create);
  }

  stop(): void {
    this.#timers.stop();
  }

  #execute(orderId: string, made: NewOrder, marker: Marker): Answer {
    const { store, settings } = this.world;
    const [existing] = store.ordersOf(orderId);
    const mode = marker.duplicate ?? settings.duplicateMode;
    if (!existing || mode === 'c') return success(this.life.begin(made).order);
    if (mode === 'b') return success(existing.order);
    if (mode === 'd') return refusal(409, 'order_id is already used');
    if (mode === 'e') return refusal(500, 'internal error');
    return refusal(400, 'validation failed', { order_id: 'is already used' });
  }

  #queue(type: OrderType, body: CreateBody, delayMs: number): void {
    const create: QueuedCreate = { id: randomUUID(), type, body, dueAtMs: Date.now() + delayMs };
    this.world.store.keep({ kind: 'queued', create });
    this.#await(create);
  }

  #await(create: QueuedCreate): void {
    this.#timers.at(create.dueAtMs, () => {
      const { id, type, body } = create;
      const marker = readMarker(body.description);
      this.#execute(body.order_id, newOrder(this.world, type, body, marker), marker);
      this.world.store.keep({ kind: 'unqueued', id });
    });
  }
}
