import { setTimeout as sleep } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/common';
import type { ActivityInterceptors, WorkerOptions } from '@temporalio/worker';
import { NOT_DELIVERED } from '../contract/events.js';

/** Maximum deliveries to one receiver at a time. As many failures in a row make it rest. */
const DELIVERIES_AT_ONCE = 10;

/** A receiver at rest gets one attempt in this time: new events first, then refused ones. */
const REST_MS = 1_000;

/** Longest time of a timer. */
const MOST_MS = 2 ** 31 - 1;

const ONE_SLOT = { type: 'fixed-size', numSlots: 1 } as const;

/**
 * Returns the slots of a receiver's queue, with an interceptor that sees its answers. While
 * it takes nothing, one event tries it, and the others wait at Temporal, where they cost nothing.
 */
export function deliverySlots() {
  let [used, failures, failedAtMs] = [0, 0, 0];
  let changed = new AbortController();
  const change = (): void => {
    changed.abort();
    changed = new AbortController();
  };

  /** Returns how long no slot is free, if nothing changes before. */
  const waitMs = (): number => {
    const isAtRest = failures >= DELIVERIES_AT_ONCE;
    if (used >= (isAtRest ? 1 : DELIVERIES_AT_ONCE)) return MOST_MS;
    return isAtRest ? Math.max(0, failedAtMs + REST_MS - performance.now()) : 0;
  };

  const intercept = (): ActivityInterceptors => ({
    inbound: {
      async execute(input, next) {
        try {
          const result = await next(input);
          failures = 0;
          change();
          return result;
        } catch (error) {
          if (error instanceof ApplicationFailure && error.type === NOT_DELIVERED) {
            failures += 1;
            failedAtMs = performance.now();
          }
          throw error;
        }
      },
    },
  });

  const tuner: WorkerOptions['tuner'] = {
    workflowTaskSlotSupplier: ONE_SLOT,
    localActivityTaskSlotSupplier: ONE_SLOT,
    nexusTaskSlotSupplier: ONE_SLOT,
    activityTaskSlotSupplier: {
      type: 'custom',
      async reserveSlot(_, signal) {
        for (let ms = waitMs(); ms > 0; ms = waitMs()) {
          const until = AbortSignal.any([signal, changed.signal]);
          await sleep(ms, undefined, { signal: until }).catch(() => signal.throwIfAborted());
        }
        used += 1;
        return {};
      },
      tryReserveSlot: () => null,
      markSlotUsed: () => undefined,
      releaseSlot() {
        used -= 1;
        change();
      },
    },
  };
  return { tuner, intercept };
}
