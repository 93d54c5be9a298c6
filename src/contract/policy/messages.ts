import type { Ledger, PolicyAnswer, PolicyQuestion, Settlement } from './ledger.js';

/* Messages of the workflow that keeps the sums of one account. */

/** Input of the workflow. Without `ledger`, it reads the sums from the service and Temporal. */
export interface PolicyInput {
  account: string;
  ledger?: Ledger;
}

/**
 * Input of the activity that reads how reserved orders ended. `isFollowed`: a follow-up asks, so the
 * order is final even if its workflow is open.
 */
export interface SettleInput {
  account: string;
  orders: readonly { orderId: string; spends: PolicyQuestion['spends']; isFollowed?: true }[];
}

/** Update of workers. Sums that were read otherwise than `of` (see `sumsId`) are read again. */
export type AskPolicy = (questions: readonly PolicyQuestion[], of?: readonly string[]) => Promise<PolicyAnswer[]>;
export type SettleAnswer = readonly Settlement[];
