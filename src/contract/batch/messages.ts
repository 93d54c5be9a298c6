/** Query and updates of a batch. Updates return nothing. */
export const BATCH_MESSAGES = {
  state: 'batchState',
  approve: 'approve',
  pause: 'pause',
  resume: 'resume',
  stop: 'stop',
} as const;
