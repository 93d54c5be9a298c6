import { type Account, GroupedLookUps } from '../../src/activities/index.js';
import type { Witnesses } from '../../src/activities/order/witnesses.js';
import type { AccountConfig } from '../../src/config.js';
import type { CreateRequests } from '../../src/contract/order/request.js';
import type { Transport } from '../../src/payment-service/transport.js';
import { openAccounts } from '../../src/worker/accounts.js';
import { orderInput } from './inputs.js';

/** What a lab's accounts are like. */
export interface LabAccounts {
  /** True: nobody else creates orders there. */
  quiet?: boolean;
  nowMs?: () => number | Promise<number>;
}

/**
 * Accounts whose look-ups wait for nobody, as those of one order alone do: tests count the requests of an order while others run
 * beside it.
 */
export async function openUngrouped(
  configs: ReadonlyMap<string, AccountConfig>,
  { quiet = false, nowMs = Date.now }: LabAccounts = {},
  transport?: Transport,
): Promise<Map<string, Account>> {
  const accounts = await openAccounts(configs, transport);
  for (const account of accounts.values()) {
    account.lookUps = new GroupedLookUps(account.service, { mostWaiting: 1 });
    if (!quiet) keepBusy(account, nowMs);
  }
  return accounts;
}

let others = 0;

/** An id that has every kind of character that an order id may have, and is as long as one may be. */
function otherId(): string {
  others += 1;
  return `${OTHERS}${process.pid}-${others}-`.padEnd(120, 'x');
}

const OTHERS = '0-Other.order_of:another.payer-';

/** True for the orders of somebody else. */
export const isOfOthers = (orderId: string): boolean => orderId.startsWith(OTHERS);

/** Lets an order of somebody else be accepted at the account whenever one is looked for that was sent later. */
export function keepBusy({ service, lookUps: { witnesses } }: Account, nowMs: () => number | Promise<number>): void {
  const later = witnesses.later.bind(witnesses);
  let isCreating = false;
  const create = async () => {
    isCreating = true;
    // Shown at once, whatever a test hides; fails, and leaves the balances as they were.
    const { order } = orderInput('withdraw', otherId(), { marker: 'outcome=error lag_ms=0' });
    const request = order as CreateRequests['withdraw'];
    const sentAtMs = await nowMs();
    witnesses.noteAccepted(await service.createOrder('withdraw', request), sentAtMs);
  };
  const once = () =>
    create()
      .catch(() => undefined)
      .finally(() => {
        isCreating = false;
      });
  const busy: Witnesses['later'] = (...asked) => {
    if (!isCreating) void once();
    return later(...asked);
  };
  witnesses.later = busy;
}
