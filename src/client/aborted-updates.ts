import { setTimeout as sleep } from 'node:timers/promises';
import { isAbortedUpdate } from './temporal-calls.js';

const FIRST_WAIT_MS = 200;
const MAX_WAIT_MS = 10_000;

/**
 * Hands an update in until the workflow takes it: Temporal drops one when the workflow task that carried it failed, for
 * instance because it ended the workflow while a callback came in. The call must name an update id, so that handing it in
 * again is the same update. The caller's deadline ends it.
 */
export async function untilTaken<T>(update: () => Promise<T>): Promise<T> {
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, MAX_WAIT_MS)) {
    try {
      return await update();
    } catch (error) {
      if (!isAbortedUpdate(error)) throw error;
    }
    await sleep(waitMs);
  }
}
