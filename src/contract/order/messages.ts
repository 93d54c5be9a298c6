import type { DecideAction, Order } from './orders.js';

/** Argument of the `orderCallback` signal: what a callback claimed. Only wakes the workflow up. */
export interface CallbackHint {
  order_uuid?: string;
  status?: string;
}

/** After this long without an answer of the service, in ms, a person is told. What waits for it goes on. */
export const ATTENTION_AFTER_MS = 15 * 60_000;

/** Where an order stands. 'parked' waits for a person; 'done' is closed or about to close. */
export type OrderPhase = 'creating' | 'uncertain' | 'following' | 'compensating' | 'parked' | 'done';

/** Why a person should look, since when (ISO time), and what may be decided now (empty: nothing, just look). */
export interface Attention {
  reason: string;
  since: string;
  allowed: DecideAction[];
}

/** Answer of the `orderState` query. `revision` grows by 1 with every change of phase or attention. */
export interface OrderState {
  phase: OrderPhase;
  revision: number;
  /** The service's last known status; null before the order is known to exist. */
  status: string | null;
  order: Order | null;
  /** What the order waits for, in words, such as `the final status, by callback or by polling`. */
  waitingFor: string;
  attention?: Attention;
  /** ISO time of the last answered look-up. */
  lastLookupAt: string | null;
}
