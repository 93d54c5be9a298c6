import type { PollInput } from '../../contract/order/answers.js';

/** So many different undocumented statuses are reported one by one. Each costs history, and a service may invent them. */
const MAX_REPORTED = 20;

/** What the next poll must not report any more: the statuses reported so far or, once there are too many, any. */
export const toleratedStatuses = (reported: string[]): Pick<PollInput, 'toleratedStatuses' | 'tolerateAll'> => ({
  toleratedStatuses: reported,
  ...(reported.length >= MAX_REPORTED && { tolerateAll: true }),
});
