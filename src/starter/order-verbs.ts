import { type CheckOptions, checkOrderInput, checkWith } from '../client/checked-input.js';
import { InvalidInputError } from '../client/errors.js';
import type { OrderFilter, OrderListEntry } from '../client/list-orders.js';
import { type OrderHandle, wantsPerson } from '../client/order-handle.js';
import { MAX_PAGE } from '../client/pages.js';
import type { SignOptions } from '../client/signing.js';
import type { PaymentOrders, StartOptions } from '../client.js';
import { decideOne } from '../contract/attention.js';
import { maskName } from '../contract/masking.js';
import type { AfterEndResult } from '../contract/order/after-end.js';
import type { OrderInput, OrderResult } from '../contract/order/input-and-result.js';
import type { Decision, OrderState } from '../contract/order/messages.js';
import type { OrderType } from '../contract/order/types.js';
import { type Followed, reportOfStart, show } from './follow.js';
import { parseInput, readInput } from './input.js';
import { whileShowing } from './progress.js';
import { EXIT, exitCodeOfResult, notDecided, type Report, type StarterIo, UsageError } from './report.js';
import { withStops } from './stop-verbs.js';
import {
  decideCommands,
  listText,
  NOBODY_ANSWERS,
  ofAccount,
  progressLine,
  resultText,
  stateText,
  suggested,
} from './text.js';
import { linkLine, listLink } from './ui-links.js';
import { WANTS_PERSON } from './views-verb.js';

/** Returns the order's name on a command line. */
const typedName = ({ orderId, received, afterEnd }: Pick<OrderHandle, 'orderId' | 'received' | 'afterEnd'>): string =>
  `${orderId}${received ? ' --received' : ''}${afterEnd ? ' --after-end' : ''}`;

const waitedFor = ({ self }: StarterIo, handle: OrderHandle): string =>
  suggested(self, [`order wait ${typedName(handle)}`, ofAccount(handle.account)]);

/** Returns an order in the form that `follow` shows. */
export function followed(io: StarterIo, handle: OrderHandle): Followed<OrderState, OrderResult> {
  const { self } = io;
  const { orderId, account, workflowId } = handle;
  const name = `order "${orderId}"`;
  return {
    handle,
    name,
    id: { orderId, account, workflowId },
    never: 'never start it under another id',
    shownBy: suggested(self, [`order show ${typedName(handle)}`, ofAccount(account)]),
    endedBefore: `${name} was started before with the same input, and has ended`,
    nobodyAnswers: NOBODY_ANSWERS,
    stateText: (state) => stateText(handle, state),
    commands: (state) => decideCommands(self, account, typedName(handle), state),
    progress: (state) => ({ line: progressLine(state), key: progressLine(state) }),
    wantsPerson,
    withLater: (report) => withChange(io, handle, report),
    ended: (result) =>
      handle.afterEnd
        ? { exitCode: EXIT.done, text: endOfLookUps(orderId, result) }
        : { exitCode: exitCodeOfResult(result), text: resultText(orderId, result) },
  };
}

/** Adds a change after the end that no person has closed: until then, nothing is decided. */
async function withChange({ self }: StarterIo, handle: OrderHandle, report: Report): Promise<Report> {
  const asked = await handle.attentionAfterEnd();
  if (!asked) return report;
  const { orderId, received, account } = handle;
  const text = [
    report.text,
    `After its end, a person is asked (${asked.code} since ${asked.since.toISOString()}): what is shown above may no longer hold. Look:`,
    `  ${suggested(self, [`order show ${typedName({ orderId, received, afterEnd: true })}`, ofAccount(account)])}`,
  ];
  const json = { ...report.json, attentionAfterEnd: asked };
  return { exitCode: EXIT.undecided, json, text: text.join('\n') };
}

/**
 * Reads and checks an order's input. Throws UsageError or InvalidInputError; nothing is started.
 */
export async function readOrderInput<T extends OrderType>(
  io: StarterIo,
  type: T,
  file: string,
  { account, formatChecks }: { account?: string } & CheckOptions,
): Promise<OrderInput<T>> {
  return checkWith(parseInput(await readInput(file, io.stdin)), (value) => {
    const given = account === undefined ? value : { account, ...Object(value) };
    const input = checkOrderInput(type, given, { formatChecks });
    if (account === undefined || input.account === account) return input;
    throw new InvalidInputError([{ field: 'account', reason: 'differs from --account' }]);
  });
}

/** Starts an order and reports it, without waiting. */
export async function startOrder(
  io: StarterIo,
  orders: PaymentOrders,
  type: OrderType,
  input: OrderInput,
  options: StartOptions,
): Promise<{ handle: OrderHandle; report: Report }> {
  const says = `starting order "${input.order.order_id}"; if this command is stopped, the order may have been started: the same command again is safe, never start it under another id`;
  return whileShowing(io.stderr, says, async () => {
    const handle = await orders.start(type, input, options);
    const notServed = handle.served === false ? NOT_SERVED(handle.account) : undefined;
    return { handle, report: await reportOfStart(followed(io, handle), handle.recovered ? RECOVERED : notServed) };
  });
}

const RECOVERED = 'It is followed by `reconcile --recover`: that run only reports, and compensates nothing';

const NOT_SERVED = (account: string): string =>
  `No worker has served account "${account}" in the last minutes, so the order waits. Check the account's name and the workers`;

function endOfLookUps(orderId: string, result: Partial<AfterEndResult>): string {
  const { changed, shown = 'nothing: its id was in use again' } = result;
  const how = changed ? 'an operator acknowledged the change' : 'nothing had changed';
  return `order "${orderId}" after its end: the service showed ${shown}; ${how}`;
}

/** Decision as typed, without revision and run if the user omitted them. */
export type TypedDecision = Omit<Decision, 'revision'> & { revision?: number };

const DECISION_FILE_FIELDS = ['revertTo', 'wallet_details'];

/**
 * Reads the fields of a decision that a command line must not show. Throws UsageError or
 * InvalidInputError.
 */
export async function readDecisionFile(
  io: StarterIo,
  file: string,
): Promise<Pick<Decision, 'revertTo' | 'wallet_details'>> {
  return checkWith(parseInput(await readInput(file, io.stdin)), (value) => {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (!isObject) throw new UsageError('the file of a decision holds {"revertTo", "wallet_details"}');
    const unknown = Object.keys(value).filter((key) => !DECISION_FILE_FIELDS.includes(key));
    if (unknown.length > 0) {
      throw new InvalidInputError(unknown.map((key) => ({ field: maskName(key), reason: 'unknown field' })));
    }
    return value;
  });
}

/** Sends a decision. Without `--revision` and `--run`, shows what may be decided. */
export async function decideOrder(
  io: StarterIo,
  handle: OrderHandle,
  typed: TypedDecision,
  sign: SignOptions = {},
): Promise<Report> {
  const { revision, runId } = typed;
  if (revision === undefined || runId === undefined) {
    const missing = '--revision or --run is missing: decide on what is shown here, as the commands name it';
    return notDecided(await show(followed(io, handle)), missing);
  }
  const taken = await handle.decide({ ...typed, revision }, sign);
  // The answer is older than the effect of the decision, and would still show the question.
  const state = await handle.state().catch(() => taken);
  return {
    exitCode: EXIT.done,
    json: { ...followed(io, handle).id, decided: typed.action, state },
    text: `order "${handle.orderId}" took the decision ${typed.action}. To follow it: ${waitedFor(io, handle)}`,
  };
}

const OTHERS =
  'Batches, addresses and reconciliations that want a person: temporal workflow list --query "PaymentNeedsAttention = true"';

/** Says, per account, that one decision is enough. */
function inDoubt(found: readonly OrderListEntry[]): string[] {
  const doubts = found.filter(({ attention }) => attention?.code === 'uncertain-create');
  const accounts = [...new Set(doubts.map(({ account }) => account))];
  return accounts.flatMap((account) => {
    const ids = doubts.filter((one) => one.account === account).map(({ orderId }) => orderId);
    const advice = decideOne(ids);
    return advice ? [`account ${account}: ${advice}`] : [];
  });
}

/** Lists orders that Temporal knows. */
export async function listOrders(
  io: StarterIo,
  orders: PaymentOrders,
  { limit, ...filter }: OrderFilter & { limit: number },
): Promise<Report> {
  const found: OrderListEntry[] = [];
  for await (const entry of orders.all({ ...filter, limit: Math.min(limit, MAX_PAGE) })) {
    if (found.push(entry) === limit) break;
  }
  const isCut = found.length === limit;
  const text = [
    listText(found, io.stdout.columns),
    ...(isCut ? [`the newest ${limit}; there may be more: --limit`] : []),
    ...inDoubt(found),
    ...(filter.needsAttention ? [OTHERS, ...linkLine(listLink(WANTS_PERSON))] : []),
  ];
  const report = { exitCode: EXIT.done, json: { orders: found }, text: text.join('\n') };
  const accounts = found.map(({ account }) => account);
  return withStops(report, orders, filter.account === undefined ? accounts : [filter.account]);
}
