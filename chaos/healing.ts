import { HEALED } from './faults.js';
import type { ChaosStack } from './stack.js';

/** Nothing is killed any more: everything comes up, the service works. Returns the time of healing, ms since the epoch. */
export async function heal(stack: ChaosStack): Promise<number> {
  await Promise.all([...stack.sandboxes, stack.receiver, ...stack.workers].map((process) => process.whenReady()));
  await stack.service.set(HEALED);
  await stack.accounts.setRight();
  await restartWorkers(stack);
  return Date.now();
}

/** Ends both workers and waits until they are back: they know the accounts file as it stands now. */
export async function restartWorkers({ workers }: ChaosStack): Promise<void> {
  for (const worker of workers) worker.kill();
  await Promise.all(workers.map((worker) => worker.whenReady()));
}
