import { activityInfo } from '@temporalio/activity';
import type { ElsewhereAnswer, LookUpAnswer, LookUpInput, LookUpReading } from '../../contract/order/activities.js';
import type { LookUpRecoveredInput } from '../../contract/order/followers.js';
import { validateRecoveredInput } from '../../validation/order-input.js';
import { payersOf } from '../../validation/rate-checks.js';
import { type Account, type ActivityDeps, accountOf } from '../deps.js';
import { comeBackIn, invalidOrder, noReading, retryLater } from '../failures.js';
import { tooSoonAfterRestore } from './after-restore.js';
import { patience } from './patience.js';
import { foundOrder, readByOrderId, withoutChanges } from './probe.js';
import { circumstancesOf, elsewhereOf, failedElsewhere, isOtherEndpoint } from './sent-to.js';

/**
 * One signed look-up. Answers only clear readings: everything else (5xx, 401, 429, time-out, garbage) is repeated by the
 * server until the service gives one, without history. So is what another account answers, once its workflow was told.
 */
export function lookUpOrderActivity(deps: ActivityDeps) {
  return async function lookUpOrder(input: LookUpInput): Promise<LookUpAnswer | ElsewhereAnswer> {
    if (input.delayMs && activityInfo().attempt === 1) throw comeBackIn(input.delayMs, 'waiting before the look-up');
    const account = accountOf(deps, input.account);
    try {
      const tooSoon = await tooSoonAfterRestore(deps, input.type);
      const reading = await read(account, input);
      if (reading.kind === 'elsewhere') return reading;
      const readAtMs = await (deps.nowMs ?? Date.now)();
      // Who pays commissions matters where something is left of an order, which nothing is of a completed one.
      const payers = isCompleted(reading)
        ? undefined
        : payersOf(await account.rates.current(), input.type, input.request);
      if (input.known && input.sentTo) return { ...reading, readAtMs, ...(payers && { payers }) };
      const restored = tooSoon && { restoredAtMs: tooSoon.restoredAtMs };
      return { ...reading, readAtMs, ...circumstancesOf(deps, account, payers), ...restored };
    } catch (error) {
      throw retryLater(error);
    }
  };
}

const isCompleted = (reading: LookUpReading): boolean =>
  reading.kind === 'found' && reading.order.status === 'completed';

async function read(account: Account, input: LookUpInput): Promise<LookUpReading | ElsewhereAnswer> {
  const { orderUuid, sentTo, known } = input;
  const proves = known && !isOtherEndpoint(account, sentTo);
  const shown = orderUuid && proves ? await readKnown(account, input, orderUuid) : undefined;
  if (shown?.kind === 'found') return shown;
  const found = await elsewhereOf(account, sentTo);
  if (found && found.why === input.told) throw failedElsewhere(found.why);
  if (found) return { kind: 'elsewhere', ...found };
  if (!orderUuid) return readByOrderId(account.service, input);
  const reading = shown ?? (await readByUuid(account, input, orderUuid));
  // Seen before, so that it cannot be absent.
  if (known && reading.kind === 'absent')
    throw noReading(`the status operation does not show the order (${reading.said})`);
  return reading;
}

/** An order that was seen before, with others where many are asked for at once: seeing it again is all that counts. */
function readKnown(account: Account, input: LookUpInput, orderUuid: string): Promise<LookUpReading> {
  return account.lookUps.read({ orderId: input.request.order_id, orderUuid }, patience(account), {
    shown: (item) => foundOrder(input, withoutChanges(item)),
    alone: () => readByUuid(account, input, orderUuid),
  });
}

async function readByUuid({ service }: Account, input: LookUpInput, orderUuid: string): Promise<LookUpReading> {
  const { order, said } = await service.orderStatus({ order_uuid: orderUuid });
  if (!order) return { kind: 'absent', said };
  if (order.order_uuid !== orderUuid) throw noReading('the status operation answered with another order');
  return foundOrder(input, order);
}

/** The first look-up of a run that was recovered from the order list; checks its input. Fails with InvalidOrder alone. */
export function lookUpRecoveredActivity(deps: ActivityDeps) {
  const lookUpOrder = lookUpOrderActivity(deps);
  return async function lookUpRecovered({
    type,
    account,
    input,
    ...asked
  }: LookUpRecoveredInput): Promise<LookUpAnswer | ElsewhereAnswer> {
    const checked = validateRecoveredInput(type, input);
    if ('errors' in checked) throw invalidOrder(checked.errors);
    const { order: request, recovered } = checked.input;
    return lookUpOrder({ ...asked, type, account, request, ...(recovered && { orderUuid: recovered.order_uuid }) });
  };
}
