import type { Logger } from 'pino';

/** Where the receiver writes; never given a body, token or query string. */
export type ReceiverLog = Pick<Logger, 'info' | 'warn'>;

/** Time between two lines of the log. */
const INTERVAL_MS = 60_000;

/** Logs counts once a minute: one line each would let anybody fill the log, also whoever got hold of one callback URL. */
export function createRefusals<Reason extends string>(log: ReceiverLog) {
  const reasons = new Map<Reason, number>();
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
    count(reason: Reason): void {
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
      timer ??= setTimeout(flush, INTERVAL_MS).unref();
    },
  };
}
