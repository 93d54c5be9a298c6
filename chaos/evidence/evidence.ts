import type { CallbackLogEntry, RequestLogEntry, SandboxOrder } from '../../sandbox/index.js';
import type { OrderResult } from '../../src/contract/order/input-and-result.js';
import type { AuditEvidence, AuditLine } from './audit.js';

/** What a workflow's history tells about its order. Times are ms since the epoch. */
export interface FollowedOrder {
  orderId: string;
  /** `completed`, `failed`, `terminated`, … as Temporal says it; `open` while it runs. */
  end: string;
  endedAtMs?: number;
  result?: OrderResult;
  /** Failure type of a workflow that failed. */
  failureType?: string;
  /** Why an open workflow waits for a person. */
  parkedFor?: string;
  /** When each `orderCallback` signal was accepted. */
  signalsAtMs: readonly number[];
  /** Create attempts whose worker died under them. */
  createsCutOff: number;
}

/** What a person decided about an order, or approved of a batch, and was told that it counts. */
export type Choice = Pick<AuditLine, 'event' | 'workflowId' | 'revision'>;

/** A value in a place where it must not be; the value itself is not repeated. */
export interface Leak {
  place: string;
  what: string;
}

/** What was looked for, and where: finding nothing proves something only of what was seen where it may be. */
export interface Searched {
  values: number;
  forms: number;
  bytes: number;
  kinds: number;
  /** Personal data that was nowhere, not even where it may be. */
  neverSeen: readonly string[];
}

/** Everything the oracle judges: what was asked for, what the service did, what our side says, and what was written down. */
export interface Evidence {
  /** Order ids that Temporal accepted a start of. */
  accepted: ReadonlySet<string>;
  /** By order id; follow-ups included. */
  followed: ReadonlyMap<string, FollowedOrder>;
  service: readonly SandboxOrder[];
  /** Balances by currency before the first order and after the last; decimal strings. */
  ledger: { start: Readonly<Record<string, string>>; end: Readonly<Record<string, string>> };
  /** Oldest first. */
  requests: readonly RequestLogEntry[];
  callbacks: readonly CallbackLogEntry[];
  leaks: readonly Leak[];
  searched: Searched;
  audit: AuditEvidence;
  /** Orders whose first create is of a cluster that lost its audit record with the rest. */
  sentBeforeFailover: ReadonlySet<string>;
  choices: readonly Choice[];
  /** Forged callbacks that were not refused. */
  wronglyAccepted: readonly string[];
}

/** Something that must not be. `orderId` names the order whose history is kept. */
export interface Finding {
  orderId?: string;
  text: string;
}

/** The service's orders by order id, oldest first. */
export function ordersById(service: readonly SandboxOrder[]): Map<string, SandboxOrder[]> {
  const byId = new Map<string, SandboxOrder[]>();
  for (const item of service) {
    const id = item.order.user_order_id;
    byId.set(id, [...(byId.get(id) ?? []), item]);
  }
  return byId;
}
