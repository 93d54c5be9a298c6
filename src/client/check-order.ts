import type { Client } from '@temporalio/client';
import { messageOf } from '../contract/failures.js';
import { DEFAULT_ACCOUNT, orderWorkflowId } from '../contract/names.js';
import type { OrderInput } from '../contract/order/input-and-result.js';
import type { OrderCheck, OrderFindings } from '../contract/order/messages.js';
import type { OrderType } from '../contract/order/types.js';
import { maskWallets } from '../contract/wallets.js';
import type { WaitOptions } from './bounded.js';
import { type CheckOptions, checkOrderInput } from './checked-input.js';
import { ConflictError, InvalidInputError } from './errors.js';
import { waitWithin } from './remote-run.js';
import { readService } from './service-calls.js';
import { describeRun, type Standing, standingOf } from './standing.js';
import { refuseOtherInput, whyNotAgain } from './start-order.js';
import { throwNoWorker } from './temporal-calls.js';

type IdState = NonNullable<OrderCheck['id']>;

/** Checks an order as its start would. Starts nothing and uses up no id. */
export async function checkOrder(
  client: Client,
  type: OrderType,
  given: unknown,
  { again, formatChecks, ...wait }: CheckOptions & WaitOptions & { again?: boolean | undefined },
): Promise<OrderCheck> {
  let input: OrderInput;
  try {
    input = checkOrderInput(type, given, { formatChecks });
  } catch (error) {
    return reportOfBadInput(error, given);
  }
  const query = { order_type: type, input };
  const about = { subject: 'read', id: input.account, ...wait } as const;
  const read = () =>
    Promise.all([
      readService<OrderFindings>(client, 'check', input.account, query),
      idState(client, type, input, again),
    ]);
  const [findings, id] = await waitWithin(client, about, read, () => throwNoWorker(client));
  return reportOf(input, findings, id);
}

/** Returns the report of input that its check refused. Rethrows every other error. */
export function reportOfBadInput(error: unknown, given: unknown): OrderCheck {
  if (!(error instanceof InvalidInputError)) throw error;
  return reportOf(Object(given), { fields: error.fields });
}

/** Adds a reason that only the caller knows, so that the order would not be sent. */
export const withReason = (report: OrderCheck, reason: string): OrderCheck => ({
  ...report,
  wouldBeSent: false,
  reasons: [...report.reasons, reason],
});

function reportOf(
  { account, order }: Partial<Record<keyof OrderInput, unknown>>,
  findings: OrderFindings,
  id?: IdState,
): OrderCheck {
  const { order_id: orderId } = Object(order) as { order_id?: unknown };
  const { fields, wouldPark, notNow, atService } = findings;
  const service = atService?.state === 'none' || atService?.state === 'conflict' ? undefined : atService?.reason;
  const reasons = [
    ...fields.map(({ field, reason }) => `${field}: ${reason}`),
    ...[id?.reason, service, wouldPark && `it would wait for a person: ${wouldPark.reason}`, notNow].filter(
      (reason) => reason !== undefined,
    ),
  ];
  return {
    ...(typeof orderId === 'string' && { orderId: maskWallets(orderId) }),
    account: typeof account === 'string' ? maskWallets(account) : DEFAULT_ACCOUNT,
    wouldBeSent: reasons.length === 0,
    reasons,
    ...findings,
    ...(id && { id }),
  };
}

/** Returns what a start with this id would meet in Temporal. What cannot be read is unknown. */
async function idState(client: Client, type: OrderType, input: OrderInput, again = false): Promise<IdState> {
  try {
    const run = await describeRun(client, orderWorkflowId(input.account ?? DEFAULT_ACCOUNT, input.order.order_id));
    if (!run) return { state: 'free' };
    const standing = await standingOf(client, run);
    const refused = again ? whyNotAgain(standing, input) : undefined;
    // A restart may correct the input.
    if (again && !refused) return { state: 'ended' };
    await refuseOtherInput(client, type, input);
    if (standing.kind === 'open')
      return { state: 'same', reason: `the id's order is open, and a start attaches to it` };
    const reason = refused ? `a start with \`again\` is refused: ${refused.reason}` : endText(standing);
    return { state: 'ended', reason };
  } catch (error) {
    if (!(error instanceof ConflictError)) {
      return { state: 'unknown', reason: `it is not known whether the id is used: ${messageOf(error)}` };
    }
    return { state: 'conflict', fields: error.fields, reason: error.message };
  }
}

function endText(standing: Standing): string {
  const end = 'a start with this id returns that end and sends nothing';
  switch (standing.kind) {
    case 'completed':
      return `the id's order ended ${standing.result.outcome}: ${end}`;
    case 'noOrder':
      return `the id's order ended as ${standing.failure}: ${end}, unless it says \`again\``;
    default:
      return `the id's order ended, and it may exist at the service: ${end}`;
  }
}
