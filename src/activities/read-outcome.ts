import type { OutcomeReading, ReadOutcomeInput } from '../contract/answers.js';
import { sameAmount } from '../contract/money.js';
import type { Order } from '../contract/orders.js';
import type { CallOptions } from '../payment-service/index.js';
import { accountOf } from './account-of.js';
import type { Account, ActivityDeps } from './deps.js';
import { noReading, retryLater } from './failures.js';
import { readListItem } from './list-item.js';
import { refuseOtherHost } from './look-up-order.js';

/** Fields on which status and list item must agree before money is moved by what they say. */
const COMPARED_AMOUNTS = ['amount_from', 'amount_to', 'amount_from_fee', 'amount_to_fee'] as const;

/** Reads a final order twice: by the status operation, and by the order list, which alone shows the balance changes. */
export function readOutcomeActivity(deps: ActivityDeps) {
  return async function readOutcome(input: ReadOutcomeInput): Promise<OutcomeReading> {
    const account = accountOf(deps, input.account);
    refuseOtherHost(account, input.host);
    try {
      return await readOutcomeOf(account, input);
    } catch (error) {
      throw retryLater(error);
    }
  };
}

/** The same as one attempt of another activity. Throws service errors, and NoReading. */
export async function readOutcomeOf(
  { service }: Account,
  { orderUuid, orderId }: Pick<ReadOutcomeInput, 'orderUuid' | 'orderId'>,
  options?: CallOptions,
): Promise<OutcomeReading> {
  const { order, said } = await service.orderStatus({ order_uuid: orderUuid }, options);
  if (order?.order_uuid !== orderUuid) throw noReading(`the status operation does not show the order (${said})`);
  const item = await readListItem(service, order, orderId, options);
  return { order, changes: item.balance_changes, disagreements: disagreementsOf(order, item) };
}

function disagreementsOf(order: Order, item: Order): string[] {
  const amounts = COMPARED_AMOUNTS.filter((field) => !sameAmount(order[field], item[field]));
  const fields = order.status === item.status ? amounts : ['status', ...amounts];
  return fields.map((field) => `status operation and order list differ in ${field}`);
}
