import type { SandboxOrder } from '../../sandbox/index.js';
import type { OrderFailure } from '../../src/contract/failures.js';
import type { OrderInput } from '../../src/contract/order/input-and-result.js';
import type { Lab } from '../support/lab.js';
import { isRefused, type Plan } from './plans.fixture.js';

/** What may be true of one started order, by what was done to it. */
export interface Known {
  plan: Plan;
  input: OrderInput;
  cancelled: boolean;
  /** A person decided `close-absent`. */
  closedAbsent: boolean;
}

/** The started orders, by their id. */
export type Model = Map<string, Known>;

/** The installation that the commands act on. */
export interface Real {
  lab: Lab;
  /** Of the order ids of one run of commands; earlier runs of the same lab used others. */
  prefix: string;
  /** Workers that were told to end, and still finish what they have begun. */
  leaving: Promise<void>[];
}

/** Failures that an order may end with: every one says that no order of ours exists. */
export function possibleFailures({ plan, cancelled, closedAbsent }: Known): OrderFailure[] {
  return [
    ...(isRefused(plan) ? (['OrderRejected'] as const) : []),
    ...(cancelled ? (['OrderCancelled'] as const) : []),
    ...(closedAbsent ? (['OrderAbsent'] as const) : []),
  ];
}

/** What the sandbox has under an order id, oldest first. */
export const atService = (lab: Lab, orderId: string): SandboxOrder[] =>
  lab.sandbox.orders().filter(({ order }) => order.user_order_id === orderId);

/** Order ids at the service under which more than one order was executed. */
export const executedTwice = ({ lab }: Real): string[] =>
  Object.entries(lab.sandbox.stats().executedByOrderId).flatMap(([id, times]) => (times > 1 ? [id] : []));
