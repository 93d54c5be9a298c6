import { searchAttribute } from '../contract/names.js';
import type { LookUpReceivedAnswer, ReceivedReading } from '../contract/order/followers.js';
import type { OrderResult, ReceivedDepositInput } from '../contract/order/input-and-result.js';
import type { ReceivedType } from '../contract/order/types.js';
import type { Order } from '../contract/service-objects.js';
import { readOverWindow } from './activity-calls.js';
import { askForReading } from './ask/ask.js';
import { compensate } from './compensation/compensate.js';
import { setOrder } from './create/create-order.js';
import type { Ours } from './create/facts.js';
import { awaitFinal } from './follow/await-final.js';
import { isKeyword } from './keywords.js';
import { close } from './order/end.js';
import { runReceived } from './order/frame.js';
import { identify, type OrderRun, showsNone } from './order/state.js';
import { showAttributes } from './show.js';

export function receivedDeposit(input: ReceivedDepositInput): Promise<OrderResult> {
  return runReceived(input, async (run) => {
    setOrder(run, await findReceived(run, input));
    return compensate(run, await awaitFinal(run));
  });
}

/**
 * Finds the order of a receipt, once a signed look-up shows it on the address of the reference. Anyone
 * who knows the callback URL can start this, so it ends after a bounded number of look-ups.
 */
async function findReceived(run: OrderRun, input: ReceivedDepositInput): Promise<Ours> {
  const read = () => {
    // This look-up answers earlier callbacks.
    run.callback.isDue = false;
    return lookUpReceived(run, input);
  };
  const isAbsent = ({ kind }: ReceivedReading) => kind !== 'found' && kind !== 'foreign';
  const reading = await readOverWindow(read, isAbsent, ({ pace }) => pace.settleWindowMs.deposit);
  if (reading.kind === 'found') return received(run, reading.type, reading.order);
  return giveUp(run, input.order_uuid, reading);
}

function lookUpReceived(run: OrderRun, input: ReceivedDepositInput): Promise<LookUpReceivedAnswer> {
  const request = { account: run.account, input, ...(run.sentTo && { sentTo: run.sentTo }) };
  const question = { summary: 'Received: is it there, and on our address?', alarm: true, checksInput: true };
  return askForReading(run, question, (activities) => activities.lookUpReceived(request));
}

function received(run: OrderRun, type: ReceivedType, order: Order): Ours {
  identify(run, type, order);
  // The start named only the order's uuid.
  const currencies = [
    { key: searchAttribute.currencyFrom, value: order.currency_from },
    { key: searchAttribute.currencyTo, value: order.currency_to },
  ];
  showAttributes([
    { key: searchAttribute.orderUuid, value: order.order_uuid },
    ...currencies.filter(({ value }) => isKeyword(value)),
  ]);
  return { kind: 'ours', order, how: 'adopted' };
}

function giveUp(run: OrderRun, orderUuid: string, reading: Exclude<ReceivedReading, { kind: 'found' }>): never {
  if (reading.kind === 'absent') close(run, 'OrderAbsent', `Order "${orderUuid}": ${showsNone(run)}`);
  close(run, 'OrderConflict', `order ${orderUuid} is not ours to follow: ${reading.reason}`);
}
