/** The query and the updates of a batch. An update returns nothing: the query tells what came of it. */
export const BATCH_MESSAGES = {
  state: 'batchState',
  /** Approves the plan with this digest. */
  approve: 'approve',
  /** Nothing new is sent until `resume`. */
  pause: 'pause',
  resume: 'resume',
  /** Nothing new is sent any more. */
  stop: 'stop',
} as const;
