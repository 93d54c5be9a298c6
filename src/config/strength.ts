/** Why a key is refused that nobody drew at random. */
export const TOO_EASY = 'must not be easy to guess: make it with openssl rand -base64 32';

/** Fewer different steps from one character to the next are counting, or an alternation. */
const MIN_STEPS = 5;

/** True for bytes with few different values, for those that count up or down, and for those that repeat themselves. */
export function isPredictable(bytes: Uint8Array, minDifferent: number): boolean {
  const steps = new Set(Array.from(bytes.subarray(1), (byte, index) => byte - (bytes[index] ?? 0)));
  return new Set(bytes).size < minDifferent || steps.size < MIN_STEPS || repeatsItself(bytes);
}

function repeatsItself(bytes: Uint8Array): boolean {
  const lengths = Array.from({ length: Math.floor(bytes.length / 2) }, (_, index) => index + 1);
  return lengths.some((length) => bytes.subarray(length).every((byte, index) => byte === bytes[index]));
}
