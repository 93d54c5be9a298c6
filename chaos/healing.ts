import { HEALED } from './faults.js';
import type { ChaosStack } from './stack.js';

/** Nothing is killed any more: everything comes up, the service works. Returns the time of healing, ms since the epoch. */
export async function heal(stack: ChaosStack): Promise<number> {
  await Promise.all([stack.sandbox, stack.receiver, ...stack.workers].map((process) => process.whenReady()));
  await stack.service.set(HEALED);
  return Date.now();
}
