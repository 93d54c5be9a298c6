import { sleep } from '@temporalio/workflow';

/** The workflow as an older version had it. */
export async function sample(): Promise<void> {
  await sleep(1);
}
