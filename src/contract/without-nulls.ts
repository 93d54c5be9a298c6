/** Deeper levels are kept as they are: nothing of ours nests so far, and what does is refused. */
const MAX_LEVELS = 50;
/** Fields that hold what the service showed: null is a value there. Null in their place stays an error. */
const AS_SHOWN = ['recovered', 'followUpOf'];

/**
 * Removes null fields at any depth: in what callers give, null means absent. Elements of lists stay, and so does
 * an order as the service showed it.
 */
export function withoutNulls<T>(input: T, levels = MAX_LEVELS): T {
  if (typeof input !== 'object' || input === null || levels === 0) return input;
  if (Array.isArray(input)) return input.map((item) => withoutNulls(item, levels - 1)) as T;
  const given = Object.entries(input).filter(([key, value]) => value !== null || AS_SHOWN.includes(key));
  return Object.fromEntries(
    given.map(([key, value]) => [key, AS_SHOWN.includes(key) ? value : withoutNulls(value, levels - 1)]),
  ) as T;
}
