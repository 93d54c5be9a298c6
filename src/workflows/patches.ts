import { patched } from '@temporalio/workflow';

/**
 * Every change that alters the commands of a workflow which may be open when a new version is rolled out: its id, and in one
 * sentence what it changed. An id stands in histories for ever. `test/replay` demands a recorded history on each side of it.
 */
export const PATCHES = {
  'names-without-wallets': 'an order id, account or reference that holds a card number or an IBAN is refused',
  'late-is-asked-anew':
    'A re-send permitted before the time of a delayed order passed is no permission for the late one.',
  'signed-decisions': 'A decision, an approval and a resume count once an activity has checked who signed them.',
  'activities-of-one-run':
    'The id of an activity is its own, so that no answer of another activity or run fits it. A resume of a batch names its pause.',
} as const satisfies Record<string, string>;

/** A patch by its id. */
export type Patch = keyof typeof PATCHES;

/** True where a run takes the new way: it is new, or took it before. False replays what an older version did. */
export function isPatched(id: Patch): boolean {
  return patched(id);
}
