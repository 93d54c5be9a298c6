import { patched } from '@temporalio/workflow';

/**
 * Every change that alters the commands of a workflow which may be open when a new version is rolled out: its id, and in one
 * sentence what it changed. An id stands in histories for ever. `test/replay` demands a recorded history on each side of it.
 */
export const PATCHES = {} as const satisfies Record<string, string>;

/** A patch by its id. */
export type Patch = keyof typeof PATCHES;

/** True where a run takes the new way: it is new, or took it before. False replays what an older version did. */
export function isPatched(id: Patch): boolean {
  return patched(id);
}
