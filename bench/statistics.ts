/** The middle of some figures; of an even number the lower one of the two in the middle. NaN without any. */
export const median = (values: readonly number[]): number => percentile(values, 0.5);

/** The figure below which that share of them lies, one of them itself. NaN without any. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

/** The smallest and the largest. */
export const spread = (values: readonly number[]): [min: number, max: number] => [
  percentile(values, 0),
  percentile(values, 1),
];

/** The mean; NaN without any. */
export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** The most points of time that lie within any span of that length, wherever it begins. */
export function worstWindow(atMs: readonly number[], spanMs: number): number {
  const sorted = [...atMs].sort((a, b) => a - b);
  let [first, most] = [0, 0];
  for (const [last, at] of sorted.entries()) {
    while ((sorted[first] ?? at) <= at - spanMs) first += 1;
    most = Math.max(most, last - first + 1);
  }
  return most;
}
