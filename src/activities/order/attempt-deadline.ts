import { activityInfo, getClient } from '@temporalio/activity';
import type { ActivityDeps } from '../deps.js';

/**
 * Asks the server, and waits for its answer, whether this attempt is still the one that counts; `details` are kept there.
 * Throws when the attempt was given up (timed out, its run reset or closed), cancelled or paused. A worker that was stopped
 * cannot know how long: a task may have been handed to it long before our code began to run.
 */
export const confirmAttempt = (details: unknown): Promise<void> =>
  getClient().activity.heartbeat(activityInfo().taskToken, details);

/** The attempt is too old, or no longer the one that counts: nothing was sent. */
export class AttemptTooOldError extends Error {}

/** The last step before a create is written; `details` reach the workflow even if this worker dies. Throws AttemptTooOldError. */
export async function confirmSend(
  { confirmAttempt }: ActivityDeps,
  deadline: AttemptDeadline,
  details: object,
): Promise<void> {
  await confirmAttempt(details).catch(() => {
    throw new AttemptTooOldError();
  });
  // Last of all, because the waits for the rate limit and the server lie in between.
  if (!deadline.allowsSend()) throw new AttemptTooOldError();
}

/** An attempt may use this much of its 60 s: what is left covers the report to the server. */
const ATTEMPT_MS = 50_000;

/** A send needs this much: HTTP total 20 s and a margin. */
const NEEDED_FOR_SEND_MS = 25_000;

/**
 * The age of one create attempt. A worker that was stopped and goes on later must not send any more: by then the server
 * has given the attempt up and the workflow may be proving that the order is absent. Two clocks, because one stands
 * still while a machine sleeps and the other may be set.
 */
export class AttemptDeadline {
  readonly #startedAt = performance.now();
  readonly #startedAtWall = Date.now();

  /** True while there is time to send and to hear the answer. */
  allowsSend(): boolean {
    const elapsedMs = Math.max(performance.now() - this.#startedAt, Date.now() - this.#startedAtWall);
    return ATTEMPT_MS - elapsedMs >= NEEDED_FOR_SEND_MS;
  }
}
