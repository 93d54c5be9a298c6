import { activityInfo, getClient } from '@temporalio/activity';
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { listRuns } from '../../client/pages.js';
import { accountOfRun } from '../../client/sent-earlier.js';
import { describeRun, type Standing, standingOf } from '../../client/standing.js';
import { callTemporal } from '../../client/temporal-calls.js';
import {
  afterEndWorkflowId,
  ORDER_CALLBACK_SIGNAL,
  parseAfterEndWorkflowId,
  quoted,
  searchAttribute,
} from '../../contract/names.js';
import type { ElsewhereAnswer, LookUpReading } from '../../contract/order/activities.js';
import {
  type AfterEndResult,
  type LookUpEndedAnswer,
  type LookUpEndedInput,
  NO_ORDER,
  shownOf,
} from '../../contract/order/after-end.js';
import { requestOfOrder } from '../../contract/order/followers.js';
import type { CreateRequest } from '../../contract/order/request.js';
import { isOrderType, type OrderType } from '../../contract/order/types.js';
import type { Order } from '../../contract/service-objects.js';
import { type Account, type ActivityDeps, accountOf } from '../deps.js';
import { comeBackIn, noReading, retryLater } from '../failures.js';
import { countShown } from '../policy/ask.js';
import { ourEndOf, unevenChanges } from '../reconcile/compare.js';
import { unlessUnreadable } from './other-runs.js';
import { readByOrderId } from './probe.js';
import { circumstancesOf, elsewhereOf, failedElsewhere } from './sent-to.js';

/** Report of a workflow: `how` for people, `shown` as `shownOf` writes it. */
interface Reported {
  how: string;
  shown?: string;
  order?: Order;
  /** Nothing of it stayed on the balance. */
  nothingLeft?: boolean;
}

/** Wait for a run that is about to end. */
const UNTIL_ENDED_MS = 1_000;

/** Looks up an order whose workflow has ended, and compares it with the workflow's report. */
export function lookUpEndedActivity(deps: ActivityDeps) {
  return async function lookUpEnded(input: LookUpEndedInput): Promise<LookUpEndedAnswer> {
    if (input.delayMs && activityInfo().attempt === 1) throw comeBackIn(input.delayMs, 'waiting before the look-up');
    const account = accountOf(deps, input.account);
    const client = getClient();
    const run = await describeRun(client, input.ended);
    if (run?.status.name === 'RUNNING') return handedOn(client, input);
    const reported = reportOf(await standingOf(client, run));
    try {
      const reading = await read(account, input, reported.order);
      const shown = shownBy(reading) + (await movedAfterEnd(account, reading, reported));
      // An operator who was shown a change learns that it was undone.
      const last = input.acknowledged ?? (await lastShown(client, input.ended, run));
      const was = last ?? reported.shown;
      const changed = shown !== (was ?? NO_ORDER);
      if (reading.kind === 'found' && !changed) return { kind: 'unchanged', shown };
      const elsewhere = await elsewhereBy(account, client, input, run);
      if (elsewhere) return elsewhere;
      const before = last === undefined ? reported.how : `an operator was shown ${last} before`;
      if (reading.kind === 'found' && last === undefined && reported.shown === NO_ORDER)
        await countShown(deps, account.name, reading.order);
      const reference = run?.typedSearchAttributes.get(searchAttribute.reference);
      return { ...reading, before, was, shown, changed, reference, ...circumstancesOf(deps, account) };
    } catch (error) {
      throw retryLater(error);
    }
  };
}

/** Hands a callback on to an open run of the order. One that is about to end may have sent it. */
async function handedOn(client: Client, { ended, byRun }: LookUpEndedInput): Promise<{ kind: 'open' }> {
  if (byRun || activityInfo().attempt === 1) throw comeBackIn(UNTIL_ENDED_MS, 'the run of the order is about to end');
  await callTemporal(client, () => client.workflow.getHandle(ended).signal(ORDER_CALLBACK_SIGNAL, {}));
  return { kind: 'open' };
}

function reportOf(standing: Standing): Reported {
  switch (standing.kind) {
    case 'completed': {
      const { order } = standing.result;
      const { nothingLeft } = ourEndOf(standing.result);
      return { how: `its run ended with ${shownOf(order)}`, shown: shownOf(order), order, nothingLeft };
    }
    case 'noOrder':
      return { how: `its run ended as ${standing.failure}: ${NO_ORDER}`, shown: NO_ORDER };
    case 'unresolved':
      return { how: `its run ended without a known result (${standing.how})` };
    case 'unreadable':
      return { how: `the end of its run cannot be read here (${standing.why})` };
    default:
      return { how: 'Temporal has no run of the order: retention or a restore removed it' };
  }
}

async function read(account: Account, { ended }: LookUpEndedInput, order?: Order): Promise<LookUpReading> {
  const { orderId, isReceived } = parseAfterEndWorkflowId(afterEndWorkflowId(ended)) ?? {};
  if (orderId === undefined) throw noReading('the workflow id names no order');
  if (isReceived) return readReceipt(account, orderId);
  return (await readByOrderId(account.service, asked(orderId, order))).reading;
}

/** Returns what to compare with. Without an order, any order under the id is reported. */
function asked(orderId: string, order?: Order): { type: OrderType; request: CreateRequest } {
  const type = order?.order_type ?? '';
  if (order && isOrderType(type)) return { type, request: { ...requestOfOrder(type, order), order_id: orderId } };
  return { type: 'withdraw', request: { order_id: orderId } as CreateRequest };
}

async function readReceipt({ service }: Account, orderUuid: string): Promise<LookUpReading> {
  const { order, said } = await service.orderStatus({ order_uuid: orderUuid });
  return order ? { kind: 'found', order, differences: [] } : { kind: 'absent', said };
}

/**
 * Returns money of an ended order that does not fit its result, for example a payout that came
 * back; '' if all fits. Only the list shows balance changes.
 */
async function movedAfterEnd({ service }: Account, reading: LookUpReading, { order, nothingLeft }: Reported) {
  if (reading.kind !== 'found' || !order || reading.order.user_order_id === '') return '';
  const { order_uuid: uuid, user_order_id: id } = reading.order;
  const { items } = await service.orders().page({ order_ids: [id] });
  const item = items.find((one) => one.order_uuid === uuid);
  const uneven = item && unevenChanges(item, nothingLeft === true);
  return uneven ? `; ${uneven}` : '';
}

/** Returns a reading as text. */
function shownBy(reading: LookUpReading): string {
  if (reading.kind === 'found') return shownOf(reading.order);
  return reading.kind === 'absent' ? NO_ORDER : `several orders: ${[...reading.orderUuids].sort().join(', ')}`;
}

/** Returns why another account proves nothing. */
async function elsewhereBy(
  account: Account,
  client: Client,
  { sentTo, told }: LookUpEndedInput,
  run?: WorkflowExecutionDescription,
): Promise<ElsewhereAnswer | undefined> {
  const pinned = sentTo ?? (run && (await unlessUnreadable(accountOfRun(client, run))));
  const found = await elsewhereOf(account, pinned);
  if (found && found.why === told) throw failedElsewhere(found.why);
  return found && { kind: 'elsewhere', ...found };
}

/** Returns what earlier look-ups after this end showed last; undefined if there were none. */
async function lastShown(
  client: Client,
  ended: string,
  run?: WorkflowExecutionDescription,
): Promise<string | undefined> {
  const workflowId = afterEndWorkflowId(ended);
  const query = `WorkflowId = ${quoted(workflowId)} AND ExecutionStatus = 'Completed'`;
  return callTemporal(client, async () => {
    const { runs } = await listRuns(client, { query, pageSize: 1 });
    const [last] = runs;
    const isEarlier = run?.closeTime && last?.closeTime && last.closeTime < run.closeTime;
    if (!last || isEarlier) return undefined;
    const result = client.workflow.getHandle<() => Promise<AfterEndResult>>(workflowId, last.runId).result();
    return (await unlessUnreadable(result))?.shown;
  });
}
