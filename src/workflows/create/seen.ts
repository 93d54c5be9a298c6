import type { Control } from '../../contract/order/activities.js';
import type { Order } from '../../contract/service-objects.js';

/** An order that may be adopted. `differences`: fields that differ from ours, if read. */
export interface Candidate {
  order_uuid: string;
  differences?: string[];
}

/** Our order at the service. */
export interface Ours {
  kind: 'ours';
  order: Order;
  how: 'accepted' | 'adopted';
  /** Fields that the service shows in another form. They raise attention. */
  soft?: readonly string[];
  /** Differences that an operator accepted. */
  acceptedDifferences?: string[];
  /** Why its amount is above cap and approval. */
  aboveCap?: string;
}

/** Something under our id that is not simply our order. */
export interface Conflict {
  kind: 'conflict';
  reason: string;
  /** Those of several orders that match our request. */
  ours: readonly string[];
  /** What an operator may adopt: the orders that are ours or, if none is, those shown. */
  candidates: readonly Candidate[];
  /** An operator is asked without further readings. */
  askAtOnce?: true;
  /** The service named it in the answer to our create. */
  isNamed?: true;
  /** The order that is not like ours, and the fields that differ. */
  foreign?: { order: Order; differences: string[]; soft?: readonly string[] };
}

/** Returns true if only the id has another form, or if the service named the order for our create. */
export const isFollowable = ({ foreign, isNamed }: Conflict): boolean =>
  isNamed === true || !foreign?.differences.includes('order_id') || foreign.differences.length === 1;

/** Our order is not shown. `said`: answer of the status operation, for operators. */
export interface Absent {
  kind: 'absent';
  said?: string;
  control?: Control;
}

/** What the service shows. */
export type Seen = Ours | Absent | Conflict;
