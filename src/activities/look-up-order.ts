import { activityInfo } from '@temporalio/activity';
import type { LookUpAnswer, LookUpInput, LookUpReading } from '../contract/answers.js';
import { accountOf } from './account-of.js';
import { hasSeen, lacksWallets } from './balances.js';
import type { Account, ActivityDeps } from './deps.js';
import { comeBackIn, noReading, retryLater } from './failures.js';
import { foundOrder, readByOrderId } from './probe.js';
import { payersOf } from './shared-rates.js';

/**
 * One signed look-up. Answers only clear readings: everything else (5xx, 401, 429, time-out, garbage, another host) is
 * repeated by the server until the service gives one, without history.
 */
export function lookUpOrderActivity(deps: ActivityDeps) {
  return async function lookUpOrder(input: LookUpInput): Promise<LookUpAnswer> {
    if (input.delayMs && activityInfo().attempt === 1) throw comeBackIn(input.delayMs, 'waiting before the look-up');
    const account = accountOf(deps, input.account);
    refuseOtherHost(account, input.host);
    try {
      await refuseOtherWallets(account, input.wallets);
      const reading = await (input.orderUuid
        ? readByUuid(account, input, input.orderUuid)
        : readByOrderId(account.service, input));
      const readAtMs = await (deps.nowMs ?? Date.now)();
      const payers = payersOf(await account.rates.current(), input.type, input.request);
      const runId = activityInfo().workflowExecution?.runId;
      return { ...reading, readAtMs, pace: deps.pace, runId, host: account.host, ...(payers && { payers }) };
    } catch (error) {
      throw retryLater(error);
    }
  };
}

/** An answer from another host says nothing about an order that was sent elsewhere. */
export function refuseOtherHost(account: Account, pinnedHost: string | undefined): void {
  if (pinnedHost !== undefined && pinnedHost !== account.host) throw noReading(otherHost(pinnedHost, account));
}

/** Said where the host asked is not the one that the order was sent to. */
export const otherHost = (sentTo: string, { host }: Account): string =>
  `the order was sent to ${sentTo}, but this worker asks ${host}: set the account's base URL back`;

/** An account without a wallet that the order's account had is another one (or another environment behind the host). */
async function refuseOtherWallets(account: Account, pinned: readonly string[] | undefined): Promise<void> {
  if (!pinned || hasSeen(account, pinned)) return;
  if (await lacksWallets(account, pinned)) throw noReading(OTHER_ACCOUNT);
}

/** Said where the account asked is not the one that the order was sent to. */
export const OTHER_ACCOUNT = 'this key shows another account: wallets of the order are missing';

async function readByUuid({ service }: Account, input: LookUpInput, orderUuid: string): Promise<LookUpReading> {
  const { order, said } = await service.orderStatus({ order_uuid: orderUuid });
  if (!order && input.known) throw noReading(`the status operation does not show the order (${said})`);
  if (!order) return { kind: 'absent', said };
  if (order.order_uuid !== orderUuid) throw noReading('the status operation answered with another order');
  return foundOrder(input, order);
}
