import type { Amount } from '../money.js';

/* Messages between orders that wait for funds and the line of their account. */

/** Place of an order in the line. Amounts include the commissions beside the order's amount. */
export interface Place {
  workflowId: string;
  /** Start of the order, in ms by the Temporal server's clock. The oldest goes first. */
  startedAtMs: number;
  amount: Amount;
  currency: string;
  /** It may go before older orders that need more. */
  overtakes?: true;
  /** It has its funds, which count until the balance shows that it is over. */
  isFunded?: true;
  /** The funded order left the line then. */
  leftAtMs?: number;
  /** The order knows what is missing. */
  isTold?: true;
}

/** Input of the line, and its state when it continues as new. */
export interface FundsLineInput {
  account: string;
  places: readonly Place[];
}

/** Funds of an order. Without `missing`, they suffice. `before`: older orders that wait. */
export interface FundsNews {
  missing?: Amount;
  /** Balance without the funds of other orders; null if it cannot be read. */
  available?: Amount | null;
  before?: number;
}

/** Asks a worker for balances. Until one is `enough`, the server repeats the question. */
export interface LookAtFundsInput {
  account: string;
  currencies: readonly string[];
  /** Orders that may have been terminated. */
  workflowIds: readonly string[];
  /** By currency; absent: any balance is an answer. */
  enough?: Record<string, Amount>;
}

/** Balances by currency (null if unreadable), and workflow ids of closed orders. */
export interface FundsLook {
  balances: Record<string, Amount | null>;
  gone: readonly string[];
}
