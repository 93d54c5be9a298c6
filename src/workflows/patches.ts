import { patched } from '@temporalio/workflow';
import type { Patch } from '../contract/patches.js';

/** True where a run takes the new way: it is new, or took it before. False replays what an older version did. */
export function isPatched(id: Patch): boolean {
  return patched(id);
}
