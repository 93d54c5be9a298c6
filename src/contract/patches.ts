/**
 * Every change that alters the commands of a workflow which may be open when a new version is rolled out: its id, and in one
 * sentence what it changed. An id stands in histories for ever. `test/replay` demands a recorded history on each side of it.
 */
export const PATCHES = {} as const satisfies Record<string, string>;

/** A patch by its id. */
export type Patch = keyof typeof PATCHES;

/** True for the id of a patch of this version. */
export const isPatch = (id: string): id is Patch => Object.hasOwn(PATCHES, id);
