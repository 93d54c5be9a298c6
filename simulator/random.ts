/** Draws of one seed: the same seed gives the same draws. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** A number in [0, 1). */
  next = (): number => {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };

  /** A whole number from `from` up to and without `to`. */
  between = (from: number, to: number): number => Math.floor(from + (to - from) * this.next());

  /** True with a probability. */
  chance = (rate: number): boolean => this.next() < rate;

  /** One of several. */
  one = <T>(items: readonly T[]): T => items[this.between(0, items.length)] as T;
}
