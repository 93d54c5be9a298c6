import type { OrderType } from './request.js';

/**
 * A deposit order that nobody pays. Once the service accepts and shows it, it is a later order for
 * those in doubt.
 */
export interface Canary {
  currency: string;
  network: string;
  /** Decimal string within the deposit limits of the rates. */
  amount: string;
  /**
   * Types that move money at once for which a deposit counts as a later order. A wrong entry pays
   * twice: a service may show deposits before payouts.
   */
  countsFor: OrderType[];
}

/** Input of the workflow that sends a canary. */
export interface CanaryInput extends Pick<Canary, 'currency' | 'network' | 'amount'> {
  account: string;
  /** Order in doubt, whose form the id of the canary has. */
  orderId: string;
  /** Minimum time between two canaries. */
  windowMs: number;
}

const MAX_LENGTH = 120;

/**
 * Returns a new order id that a service changes if it changes `orderId`: as long, and with the same
 * kinds of characters. Pure.
 */
export function canaryId(orderId: string, nowMs: number): string {
  const zero = orderId.startsWith('0') ? '0' : '';
  // Longer than any number that a service could keep unchanged.
  const digits = `${nowMs}`.padEnd(20, '1');
  if (/^\d+$/.test(orderId)) return `${zero}${digits}`.padEnd(orderId.length, '1');
  if (/^\d+\.\d+$/.test(orderId)) return `${zero}${nowMs}.${digits}`.padEnd(orderId.length, '1');
  return `${zero}Canary_of:${nowMs}-a.b`.padEnd(Math.min(orderId.length, MAX_LENGTH), 'x');
}
