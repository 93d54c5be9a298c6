/**
 * Requests that one task of either queue makes at worst: probe and create; list and status. The create of a follow-up also
 * reads what it was made for (two for each order before it), which is rare enough for the share that is left.
 */
const REQUESTS_PER_TASK = 2;

/**
 * Shares of the account's limit. Together they stay below it: the server's limit is bursty (about a fifth above over a few
 * seconds), and plans, reconciliations and shared rates calls come on top. An order takes one create and at least two
 * tasks of the look-up queue (the first attempt of a poll asks nothing, but counts), so that the larger share goes there.
 */
const SHARE = { create: 0.33, lookup: 0.55 };

/** Options of the two queues of an account: tasks per second over all workers; none without a configured limit. */
export function queueLimits(requestsPerSecond: number | undefined) {
  if (requestsPerSecond === undefined) return { create: {}, lookup: {} };
  const tasksPerSecond = (share: number) => ({
    maxTaskQueueActivitiesPerSecond: (requestsPerSecond * share) / REQUESTS_PER_TASK,
  });
  return { create: tasksPerSecond(SHARE.create), lookup: tasksPerSecond(SHARE.lookup) };
}
