import { activityInfo, getClient } from '@temporalio/activity';

/**
 * Asks the server, and waits for its answer, whether this attempt is still the one that counts; `details` are kept there.
 * Throws when the attempt was given up (timed out, its run reset or closed), cancelled or paused. A worker that was stopped
 * cannot know how long: a task may have been handed to it long before our code began to run.
 */
export const confirmAttempt = (details: unknown): Promise<void> =>
  getClient().activity.heartbeat(activityInfo().taskToken, details);
