import { decimal } from '../money.js';
import type { OnlyByCommand } from '../signature.js';
import type { Pace } from './activities.js';

/** Highest amounts without an approval, by currency. */
type Caps = Iterable<readonly [currency: string, amount: string]>;

/** Strictest limits that workers of an account have reported. */
export interface Strictest {
  pace?: Pace;
  caps?: Record<string, string>;
  onlyByCommand?: OnlyByCommand;
}

export function stricter(before: Strictest, now: Strictest): Strictest {
  const caps = now.caps && Object.fromEntries(lowestCaps(Object.entries(before.caps ?? {}), Object.entries(now.caps)));
  const onlyByCommand = before.onlyByCommand === 'signed' ? undefined : now.onlyByCommand;
  return {
    ...before,
    ...(now.pace && { pace: stricterPace(before.pace, now.pace) }),
    ...(caps && { caps }),
    ...(onlyByCommand && { onlyByCommand }),
  };
}

/** Returns the newer pace with the longer of both settle windows and confirm delays. */
export function stricterPace(before: Pace | undefined, now: Pace): Pace {
  if (!before) return now;
  const { settleWindowMs: kept } = before;
  return {
    ...now,
    settleWindowMs: {
      atOnce: Math.max(kept.atOnce, now.settleWindowMs.atOnce),
      deposit: Math.max(kept.deposit, now.settleWindowMs.deposit),
    },
    confirmDelayMs: Math.max(before.confirmDelayMs, now.confirmDelayMs),
  };
}

export function lowestCaps(...all: readonly Caps[]): Map<string, string> {
  const lowest = new Map<string, string>();
  for (const [currency, cap] of all.flatMap((caps) => [...caps])) {
    const before = lowest.get(currency);
    if (before === undefined || decimal(cap).lt(decimal(before))) lowest.set(currency, cap);
  }
  return lowest;
}
