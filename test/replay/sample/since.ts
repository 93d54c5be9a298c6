import { sleep } from '@temporalio/workflow';
import { isPatched } from '../../../src/workflows/patches.js';

/** A workflow with a patch: sleeps once more since. */
export async function sample(): Promise<void> {
  if (isPatched('sleeps-twice' as never)) await sleep(1);
  await sleep(1);
}
