import type { Logger } from 'pino';

/** Time between two lines of the log. */
const INTERVAL_MS = 60_000;

/**
 * Why a request was refused: no genuine callback URL, a body above 64 KiB, a body that cannot be read, too many new orders
 * on an address, or too many callbacks for an order.
 */
export type Refusal = 'notFound' | 'tooLarge' | 'malformed' | 'crowded' | 'limited';

/** Counts refused requests. `flush` logs what was counted since the last line, if anything. */
export interface Refusals {
  count(reason: Refusal): void;
  flush(): void;
}

/** Logs counts once a minute: one line each would let anybody fill the log, also whoever got hold of one callback URL. */
export function createRefusals(log: Pick<Logger, 'warn'>): Refusals {
  const reasons = new Map<Refusal, number>();
  let timer: NodeJS.Timeout | undefined;
  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    const refused = [...reasons.values()].reduce((sum, count) => sum + count, 0);
    if (refused > 0) log.warn({ refused, reasons: Object.fromEntries(reasons) }, 'requests refused in the last minute');
    reasons.clear();
  }
  return {
    flush,
    count(reason) {
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
      timer ??= setTimeout(flush, INTERVAL_MS).unref();
    },
  };
}
