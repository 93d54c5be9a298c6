import { createHash } from 'node:crypto';

const FIRST_SIZE = 1 << 14;
/** Share of the places that is taken at most. */
const FULLEST = 0.6;

/** The ids of the orders that were seen: 16 to 30 bytes each, however long they are, so that millions fit. */
export class SeenIds {
  #places = new Float64Array(FIRST_SIZE);
  #count = 0;

  add(id: string): void {
    if (this.#count >= this.#places.length * FULLEST) this.#grow();
    if (this.#put(numberOf(id))) this.#count += 1;
  }

  has(id: string): boolean {
    const number = numberOf(id);
    return this.#places[this.#placeOf(number)] === number;
  }

  #put(number: number): boolean {
    const place = this.#placeOf(number);
    if (this.#places[place] === number) return false;
    this.#places[place] = number;
    return true;
  }

  /** The place of a number, or the free one where it belongs. */
  #placeOf(number: number): number {
    const size = this.#places.length;
    let place = number % size;
    while (this.#places[place] !== 0 && this.#places[place] !== number) place = (place + 1) % size;
    return place;
  }

  #grow(): void {
    const before = this.#places;
    this.#places = new Float64Array(before.length * 2);
    for (const number of before) if (number !== 0) this.#put(number);
  }
}

/** 48 bits of a hash that nobody steers: of five million ids the chance that one is taken for another is one in fifty million. */
const numberOf = (id: string): number => createHash('sha256').update(id).digest().readUIntBE(0, 6) + 1;
