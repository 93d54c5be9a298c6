/**
 * How fast orders are followed. Configured on workers and handed to workflows only inside activity results, so that a
 * changed setting never changes what a replayed workflow decides.
 */
export interface Pace {
  /** First wait of the status polling. */
  pollInitialMs: number;
  /** Longest wait between two status polls. */
  pollMaxMs: number;
  /** How long absence must last after an uncertain create: types that move money at once, and deposit types. */
  settleWindowMs: { atOnce: number; deposit: number };
  /** Time between the two readings that must agree before a compensation moves money. */
  confirmDelayMs: number;
}
