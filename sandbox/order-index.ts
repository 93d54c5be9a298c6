import type { StoredOrder } from './stored.js';

/** An order's place in lists; what is stored of it is replaced at every change. */
interface Entry {
  uuid: string;
  createdAtMs: number;
  stored: StoredOrder;
}

/** Up to so many are sorted on the way; more are picked out of what is kept sorted. */
const SORT_AT_MOST = 2_000;

const byUuid = (a: Entry, b: Entry): number => (a.uuid < b.uuid ? -1 : 1);

/** The orders that lists show, kept sorted by time and by identifier, so that no list has to sort all of them. */
export class OrderIndex {
  readonly #entries = new Map<string, Entry>();
  readonly #byTime: Entry[] = [];
  readonly #byUuid: Entry[] = [];

  /** Takes a new order, or a new state of one that was not removed. */
  put(stored: StoredOrder): void {
    const { createdAtMs } = stored;
    const { order_uuid: uuid } = stored.order;
    const known = this.#entries.get(uuid);
    if (known) {
      known.stored = stored;
      return;
    }
    const entry = { uuid, createdAtMs, stored };
    this.#entries.set(uuid, entry);
    // Orders come in the order of their creation, a clock that was set back apart.
    insert(this.#byTime, entry, (other) => other.createdAtMs > createdAtMs);
    insert(this.#byUuid, entry, (other) => other.uuid > uuid);
  }

  remove(uuid: string): void {
    for (const entries of [this.#byTime, this.#byUuid]) {
      const at = entries.findIndex((entry) => entry.uuid === uuid);
      if (at >= 0) entries.splice(at, 1);
    }
  }

  /**
   * The orders created from `fromMs` to before `beforeMs`, by identifier. Identifiers are random: the list is in no useful
   * order, but always in the same.
   */
  *between(fromMs: number, beforeMs: number): Generator<StoredOrder> {
    const first = firstIndex(this.#byTime, ({ createdAtMs }) => createdAtMs >= fromMs);
    const end = firstIndex(this.#byTime, ({ createdAtMs }) => createdAtMs >= beforeMs);
    const few = end - first <= SORT_AT_MOST;
    for (const { createdAtMs, stored } of few ? this.#byTime.slice(first, end).sort(byUuid) : this.#byUuid) {
      if (createdAtMs >= fromMs && createdAtMs < beforeMs) yield stored;
    }
  }
}

function insert(entries: Entry[], entry: Entry, isAfter: (other: Entry) => boolean): void {
  entries.splice(firstIndex(entries, isAfter), 0, entry);
}

/** Index of the first entry for which `holds`, which must hold for all behind it; the length when there is none. */
function firstIndex(entries: readonly Entry[], holds: (entry: Entry) => boolean): number {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const entry = entries[middle];
    if (entry && holds(entry)) high = middle;
    else low = middle + 1;
  }
  return low;
}
