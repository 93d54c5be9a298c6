import type { PlannedOrder } from '../../chaos/inputs.js';
import { isClientError } from '../../src/index.js';
import type { Random } from '../random.js';
import type { World } from '../world.js';

export const MINUTE_MS = 60_000;
/** Orders start, and things go wrong, for this long. */
export const FIRE_MS = 30 * MINUTE_MS;

/** What an act works with. `random`: draws of its own, which stay the same without the other acts. */
export interface Scene {
  world: World;
  random: Random;
  planned: readonly PlannedOrder[];
}

/** Something that may happen to a world; `share`: of all seeds. */
export interface Act {
  share: number;
  /** Called before anything starts. Returns what ends it once all is well again. */
  begin: (scene: Scene) => (() => Promise<void>) | undefined;
}

/** Who an operator is, and why he acts. */
export const SAID = { by: 'an operator', reason: 'a look at it' };

/** Something that happens later. A failure of it ends the run. */
export const later = (ms: number, task: () => Promise<void> | void): void => void setTimeout(async () => task(), ms);

/** Tries what a caller or person may be refused. Returns true if it was not. */
export async function attempt(call: () => Promise<unknown>): Promise<boolean> {
  try {
    await call();
    return true;
  } catch (error) {
    if (isClientError(error)) return false;
    throw error;
  }
}
