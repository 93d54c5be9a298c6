import { sameAmount } from '../../contract/money.js';
import type { OutcomeAnswer, OutcomeReading, ReadOutcomeInput } from '../../contract/order/answers.js';
import type { Order } from '../../contract/order/order.js';
import type { CallOptions } from '../../payment-service/index.js';
import { accountOf } from '../account-of.js';
import type { Account, ActivityDeps } from '../deps.js';
import { noReading, retryLater } from '../failures.js';
import { readListItem } from './list-item.js';
import { elsewhereOf, isOtherEndpoint } from './sent-to.js';

/** Fields on which status and list item must agree before money is moved by what they say. */
const COMPARED_AMOUNTS = ['amount_from', 'amount_to', 'amount_from_fee', 'amount_to_fee'] as const;

/** Reads a final order twice: by the status operation, and by the order list, which alone shows the balance changes. */
export function readOutcomeActivity(deps: ActivityDeps) {
  return async function readOutcome(input: ReadOutcomeInput): Promise<OutcomeAnswer> {
    const account = accountOf(deps, input.account);
    try {
      if (isOtherEndpoint(account, input.sentTo)) return { elsewhere: true };
      const { reading, said } = await shownOutcome(account, input);
      if (reading) return reading;
      if (await elsewhereOf(account, input.sentTo)) return { elsewhere: true };
      throw notShown(said);
    } catch (error) {
      throw retryLater(error);
    }
  };
}

/** What another activity reads of it in one attempt. */
type Asked = Pick<ReadOutcomeInput, 'orderUuid' | 'orderId'>;

/** The same as one attempt of another activity. Throws service errors, and NoReading. */
export async function readOutcomeOf(account: Account, asked: Asked, options?: CallOptions): Promise<OutcomeReading> {
  const { reading, said } = await shownOutcome(account, asked, options);
  if (!reading) throw notShown(said);
  return reading;
}

const notShown = (said: string) => noReading(`the status operation does not show the order (${said})`);

/** Both views of the order, none where its status does not show it. One that does proves the account. `said`: what it said. */
async function shownOutcome(
  { service }: Account,
  { orderUuid, orderId }: Asked,
  options?: CallOptions,
): Promise<{ reading?: OutcomeReading; said: string }> {
  const { order, said } = await service.orderStatus({ order_uuid: orderUuid }, options);
  if (order?.order_uuid !== orderUuid) return { said };
  const item = await readListItem(service, order, orderId, options);
  const reading = { order, changes: item.balance_changes, disagreements: disagreementsOf(order, item) };
  return { reading, said };
}

function disagreementsOf(order: Order, item: Order): string[] {
  const amounts = COMPARED_AMOUNTS.filter((field) => !sameAmount(order[field], item[field]));
  const fields = order.status === item.status ? amounts : ['status', ...amounts];
  return fields.map((field) => `status operation and order list differ in ${field}`);
}
