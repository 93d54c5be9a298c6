import { sleep } from '@temporalio/workflow';
import { searchAttribute } from '../../contract/names.js';
import type { LookUpAnswer } from '../../contract/order/activities.js';
import type { LookUpReceivedAnswer, ReceivedReading } from '../../contract/order/followers.js';
import type { ReceivedDepositInput } from '../../contract/order/input-and-result.js';
import type { ReceivedType } from '../../contract/order/types.js';
import type { Order } from '../../contract/service-objects.js';
import { askForReading } from '../ask/ask.js';
import type { Ours } from '../create/readings.js';
import { closeWithoutOrder } from '../order/end.js';
import { identify, type OrderRun, showsNone } from '../order/state.js';
import { isKeyword, showAttributes } from '../show.js';

/** The first look-up of a run that was recovered from the order list; it checks the input. */
export function lookUpRecovered(run: OrderRun): Promise<LookUpAnswer> {
  const question = { summary: 'Recovered: where does it stand?', alarm: true, checksInput: true };
  const request = () => ({ type: run.type, account: run.account, input: run.input, sentTo: run.sentTo });
  return askForReading(run, question, ({ lookUpRecovered }, more) => lookUpRecovered({ ...request(), ...more }));
}

/** Fewest readings in a row, spread over the settle window, that prove that the service has no such order. */
const READINGS = 3;

/**
 * Finds the order that a receipt made, once a signed look-up shows that it is one on the address of the reference.
 * Whoever knows the address's callback URL can start this for any `order_uuid`: what is not there over the settle window
 * fails as OrderAbsent, what is somebody else's as OrderConflict, and both cost a bounded number of look-ups.
 */
export async function findReceived(run: OrderRun, input: ReceivedDepositInput): Promise<Ours> {
  const startedAtMs = Date.now();
  for (let readings = 1; ; readings += 1) {
    const askedAtMs = Date.now();
    // A callback that came before this look-up is answered by it.
    run.callback.isDue = false;
    const reading = await lookUpReceived(run, input);
    if (reading.kind === 'found') return received(run, reading.type, reading.order);
    const windowMs = reading.pace.settleWindowMs.deposit;
    const isProven = readings >= READINGS && askedAtMs - startedAtMs >= windowMs;
    if (reading.kind === 'foreign' || isProven) return giveUp(run, input.order_uuid, reading);
    await sleep(Math.ceil(windowMs / (READINGS - 1)), { summary: 'Not there: it may only be late' });
  }
}

function lookUpReceived(run: OrderRun, input: ReceivedDepositInput): Promise<LookUpReceivedAnswer> {
  const request = { account: run.account, input, ...(run.sentTo && { sentTo: run.sentTo }) };
  const question = { summary: 'Received: is it there, and on our address?', alarm: true, checksInput: true };
  return askForReading(run, question, (activities) => activities.lookUpReceived(request));
}

function received(run: OrderRun, type: ReceivedType, order: Order): Ours {
  identify(run, type, order);
  // Whoever started this knew the order's id and nothing else.
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
  if (reading.kind === 'absent') closeWithoutOrder(run, 'OrderAbsent', `Order "${orderUuid}": ${showsNone(run)}`);
  closeWithoutOrder(run, 'OrderConflict', `order ${orderUuid} is not ours to follow: ${reading.reason}`);
}
