import { createHash } from 'node:crypto';

/**
 * A number in [0, 1) that depends on the seed and the key only. Without a running generator the same orders meet the
 * same fate in every run, in whatever order they arrive.
 */
export function chance(seed: string, key: string): number {
  const digest = createHash('sha256').update(`${seed}\0${key}`).digest();
  return digest.readUIntBE(0, 6) / 2 ** 48;
}

/** Picks a name by rates (each 0 to 1, together at most 1); undefined for the rest. */
export function pick(rates: ReadonlyArray<readonly [string, number]>, draw: number): string | undefined {
  let below = 0;
  for (const [name, rate] of rates) {
    below += rate;
    if (draw < below) return name;
  }
  return undefined;
}

/** The items in an order that depends on the seed and the key only. */
export function shuffled<T>(items: readonly T[], seed: string, key: string): T[] {
  // One draw decides all: a digest for each of many thousand items would take seconds.
  let state = Math.floor(chance(seed, key) * 2 ** 32) | 1;
  const next = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
  return items
    .map((item) => [next(), item] as const)
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item);
}

/** Hex text of the wanted length that looks like a hash and depends on the key only. */
export const fakeHex = (key: string, length: number): string =>
  createHash('sha512').update(key).digest('hex').slice(0, length);
