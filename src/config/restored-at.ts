import { z } from 'zod';
import { type Env, optional, type Problems } from './env.js';

const INSTANT = z.iso.datetime({ offset: true });

/** A time to come would hold every order back, so that it is a mistake. */
function passedInstant(text: string): number | undefined {
  const ms = INSTANT.safeParse(text).success ? Date.parse(text) : Number.NaN;
  return ms <= Date.now() ? ms : undefined;
}

/** Since when a restored Temporal runs, in ms since the epoch; undefined = it was never restored. */
export const readRestoredAt = (env: Env, problems: Problems): number | undefined =>
  optional(
    env,
    'TEMPORAL_RESTORED_AT',
    problems,
    passedInstant,
    'must be a time that has passed, with its zone, such as 2026-01-31T09:30:00Z',
  );
