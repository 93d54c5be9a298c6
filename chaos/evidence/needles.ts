/** So many bytes of a needle are looked up at once; shorter needles are refused. */
const KEY_BYTES = 8;

/** Finds any of very many byte strings in one pass, whatever their number. */
export class Needles<Label> {
  readonly #byStart = new Map<string, { bytes: Buffer; label: Label }[]>();
  /** Which first three bytes occur at all: nearly every place is done with after one look. */
  readonly #starts = new Uint8Array(1 << 24);
  #longest = 0;
  #count = 0;

  /** Throws for less than 8 bytes, which would be found by chance. */
  add(bytes: Buffer, label: Label): void {
    if (bytes.length < KEY_BYTES) throw new RangeError(`a needle needs ${KEY_BYTES} bytes`);
    this.#starts[startOf(bytes, 0)] = 1;
    const key = keyOf(bytes, 0);
    const same = this.#byStart.get(key);
    if (same) same.push({ bytes, label });
    else this.#byStart.set(key, [{ bytes, label }]);
    this.#longest = Math.max(this.#longest, bytes.length);
    this.#count += 1;
  }

  get count(): number {
    return this.#count;
  }

  /** Bytes of the longest needle. */
  get longest(): number {
    return this.#longest;
  }

  /** Labels of all needles in the bytes, each once. */
  foundIn(bytes: Buffer): Set<Label> {
    const found = new Set<Label>();
    for (let at = 0; at + KEY_BYTES <= bytes.length; at += 1) {
      if (this.#starts[startOf(bytes, at)] !== 1) continue;
      for (const needle of this.#byStart.get(keyOf(bytes, at)) ?? []) {
        if (needle.bytes.equals(bytes.subarray(at, at + needle.bytes.length))) found.add(needle.label);
      }
    }
    return found;
  }
}

const startOf = (bytes: Buffer, at: number): number =>
  ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);

const keyOf = (bytes: Buffer, at: number): string => bytes.toString('latin1', at, at + KEY_BYTES);
