import { hash } from 'node:crypto';

/** 32-bit words of one entry: two of the key's hash, the line, and a word of the caller's. */
const WORDS = 4;
const FIRST_CAPACITY = 1024;

/** What is known of a key: the line that had it first, from 1 on, and the word that came with it. */
export interface FirstLine {
  line: number;
  word: number;
}

/**
 * Remembers on which line a key came first, for the million rows a file may have: 16 bytes an entry in one array. A Map of
 * so many strings costs ten times as much, and the heap grows with a multiple of it. Keys are told apart by 64 bits.
 */
export class LineIndex {
  #entries = new Uint32Array(FIRST_CAPACITY * WORDS);
  #size = 0;

  /** The first line of this key; undefined where it is new, and is remembered from now on. */
  first(key: string, line: number, word = 0): FirstLine | undefined {
    if (2 * this.#size >= this.#entries.length / WORDS) this.#grow();
    const digest = hash('sha256', key, 'buffer');
    const entry = [digest.readUInt32LE(0), digest.readUInt32LE(4), line, word];
    const at = this.#slotOf(entry);
    if (this.#entries[at + 2] !== 0) return { line: this.#entries[at + 2] ?? 0, word: this.#entries[at + 3] ?? 0 };
    this.#entries.set(entry, at);
    this.#size += 1;
    return undefined;
  }

  /** Where the key stands, or the free place where it belongs: the next one after that of its hash. */
  #slotOf([low = 0, high = 0]: ArrayLike<number> & Iterable<number>): number {
    const { length } = this.#entries;
    let at = (low * WORDS) % length;
    while (this.#entries[at + 2] !== 0 && !(this.#entries[at] === low && this.#entries[at + 1] === high)) {
      at = (at + WORDS) % length;
    }
    return at;
  }

  #grow(): void {
    const old = this.#entries;
    this.#entries = new Uint32Array(2 * old.length);
    for (let at = 0; at < old.length; at += WORDS) {
      const entry = old.subarray(at, at + WORDS);
      if (entry[2] !== 0) this.#entries.set(entry, this.#slotOf(entry));
    }
  }
}
