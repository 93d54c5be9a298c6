import type { Ledger, PolicyAnswer, PolicyQuestion, Settlement } from './ledger.js';

/* Messages of the workflow that keeps the sums of one account. */

/** Input of the workflow. Without `ledger`, it reads the sums from the service and Temporal. */
export interface PolicyInput {
  account: string;
  ledger?: Ledger;
}

/** Input of the activity that reads how reserved orders ended. */
export interface SettleInput {
  account: string;
  orders: readonly { orderId: string; spends: PolicyQuestion['spends'] }[];
}

export type AskPolicy = (questions: readonly PolicyQuestion[]) => Promise<PolicyAnswer[]>;
export type SettleAnswer = readonly Settlement[];
