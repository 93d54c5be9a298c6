import Big from 'big.js';
import { vi } from 'vitest';
import { RECEIVED_DEPOSIT_WORKFLOW } from '../../../src/contract/names.js';
import type { Lab } from '../../support/lab.js';
import { newAddress, receive } from '../../workflows/receipts.fixture.js';

/** Receipts on permanent addresses, of which half had their callbacks dropped. */
export interface LostReceipts {
  orderUuids: string[];
  /** How many nobody was told about. */
  lost: number;
}

/** Runs of followers that Temporal has, in all. */
export const followers = (lab: Lab): Promise<number> => countRuns(lab, FOLLOWERS);

const FOLLOWERS = `WorkflowType = '${RECEIVED_DEPOSIT_WORKFLOW}'`;
const countRuns = async (lab: Lab, query: string) => (await lab.temporal.client.workflow.count(query)).count;

/** Lets receipts come in on addresses, every second of which loses its callbacks; waits until the other orders' followers have ended. */
export async function loseHalf(lab: Lab, counts: { addresses: number; receipts: number }): Promise<LostReceipts> {
  const addresses = await Promise.all(
    Array.from({ length: counts.addresses }, (_, n) => newAddress(lab, n % 4 < 2 ? undefined : 'btc')),
  );
  const silent = addresses.filter((_, n) => n % 2 === 1);
  lab.sandbox.set({ callbacks: { lostAddresses: silent.map(({ uuid }) => uuid) } });
  const received = Array.from({ length: counts.receipts }, (_, n) => {
    const address = addresses[n % addresses.length];
    if (!address) throw new Error('no address');
    // Amounts that tell one receipt from another.
    return { address, ...receive(lab, address, '', `${100 + n}.${n % 10}`) };
  });
  const lost = received.filter(({ address }) => silent.includes(address)).length;
  const isDone = async () =>
    lab.sandbox.orders().every(({ order }) => order.finalized_at !== null) &&
    // A follower that has not read the end yet would be woken, not found equal.
    (await countRuns(lab, `${FOLLOWERS} AND ExecutionStatus = 'Completed'`)) === counts.receipts - lost;
  await vi.waitUntil(isDone, { timeout: 120_000, interval: 200 });
  return { orderUuids: received.map(({ orderUuid }) => orderUuid), lost };
}

/** Sums by currency of what the results of followers say was credited. */
export async function creditedByUs(lab: Lab, orderUuids: readonly string[]): Promise<Record<string, string>> {
  const results = await Promise.all(orderUuids.map((uuid) => lab.orders.received(uuid).result()));
  return sums(results.map(({ order }) => order));
}

/** The same by the service. */
export const creditedByService = (lab: Lab): Record<string, string> =>
  sums(lab.sandbox.orders().map(({ order }) => order));

function sums(orders: readonly { currency_to: string; amount_to: string | null }[]): Record<string, string> {
  const totals = new Map<string, Big>();
  for (const { currency_to: currency, amount_to: amount } of orders) {
    totals.set(currency, (totals.get(currency) ?? new Big(0)).plus(amount ?? 0));
  }
  return Object.fromEntries([...totals].map(([currency, total]) => [currency, total.toFixed()]));
}
