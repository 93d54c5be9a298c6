import { checkOrderInput } from '../client/checked-input.js';
import { FailedError, InvalidInputError, UnresolvedError } from '../client/errors.js';
import type { OrderFilter } from '../client/list-orders.js';
import type { OrderHandle } from '../client/order-handle.js';
import type { SignOptions } from '../client/signing.js';
import type { PaymentOrders } from '../client.js';
import { maskName } from '../contract/masking.js';
import { DEFAULT_ACCOUNT } from '../contract/names.js';
import type { AfterEndResult } from '../contract/order/after-end.js';
import type { OrderInput, OrderResult } from '../contract/order/input-and-result.js';
import type { Decision, OrderState } from '../contract/order/messages.js';
import type { OrderType } from '../contract/order/types.js';
import { type FollowEnd, follow, look } from './follow.js';
import { checkWith, parseInput, readInput } from './input.js';
import { whileShowing } from './progress.js';
import {
  EXIT,
  exitCodeOfResult,
  goingOn,
  notDecided,
  type Report,
  reportOfError,
  type StarterIo,
  UsageError,
} from './report.js';
import {
  decideText,
  elsewhereText,
  listText,
  NOBODY_ANSWERS,
  ofAccount,
  progressLine,
  resultText,
  stateText,
  suggested,
} from './text.js';

/** What names an order on every line of JSON. */
const idOf = ({ orderId, account, workflowId }: OrderHandle) => ({ orderId, account, workflowId });

/** How the order is named on a command line. */
const typedName = ({ orderId, received, afterEnd }: OrderHandle): string =>
  `${orderId}${received ? ' --received' : ''}${afterEnd ? ' --after-end' : ''}`;

const whereItStands = ({ self }: StarterIo, name: string, account: string): string =>
  `Where it stands: ${suggested(self, [`order show ${name}`, ofAccount(account)])}`;

/** Reads and checks an order input. Throws UsageError or InvalidInputError; nothing is started yet. */
export async function readOrderInput<T extends OrderType>(
  io: StarterIo,
  type: T,
  file: string,
  account?: string,
): Promise<OrderInput<T>> {
  return checkWith(parseInput(await readInput(file, io.stdin)), (value) => {
    // Rules of ours alone are checked once it is known whether the account's workers waive them.
    const input = checkOrderInput(type, account === undefined ? value : { account, ...Object(value) }, 'warn');
    if (account === undefined || input.account === account) return input;
    throw new InvalidInputError([{ field: 'account', reason: 'differs from --account' }]);
  });
}

/** Starts an order and says so; waiting is another step. */
export async function startOrder(
  io: StarterIo,
  orders: PaymentOrders,
  type: OrderType,
  input: OrderInput,
  again: boolean,
): Promise<{ handle: OrderHandle; report: Report }> {
  const { account = DEFAULT_ACCOUNT, order } = input;
  const where = whereItStands(io, order.order_id, account);
  const says = `order "${order.order_id}" may have been started; if so, it continues. The same command again is safe; never start it under another id. ${where}`;
  // Up to its first line: Temporal may have taken the start long before a person reads of it.
  return goingOn(io, says, async () => {
    const handle = await orders.start(type, input, { again });
    return { handle, report: await reportOfStart(io, orders, handle) };
  });
}

async function reportOfStart(io: StarterIo, orders: PaymentOrders, handle: OrderHandle): Promise<Report> {
  const attached = handle.attached ?? false;
  const what = handle.recovered ? RECOVERED : attached ? 'was started before with the same input' : 'started';
  const text = `order "${handle.orderId}" ${what} (workflow ${handle.workflowId})`;
  if (attached && !(await handle.isOpen())) {
    // Whoever starts it once more must not take an order that came to nothing for one that is under way.
    const end = await showOrder(io, handle);
    return { ...end, json: { ...end.json, attached }, text: `${text}\n${end.text}` };
  }
  const warning = (await orders.isServed(handle.account)) ? undefined : notServed(handle.account);
  return {
    exitCode: EXIT.done,
    json: { ...idOf(handle), attached, ...(warning && { warning }) },
    text: [text, warning].filter(Boolean).join('\n'),
  };
}

const RECOVERED = 'is followed by `reconcile --recover`: that run only reports, and compensates nothing';

const notServed = (account: string): string =>
  `No worker has served account "${account}" in the last minutes, so the order waits. Check the account's name and the workers`;

/** Where an order stands, or how it ended; without a result none of ours exists, or its workflow was stopped and nobody knows. */
async function reportOf(
  io: StarterIo,
  handle: OrderHandle,
  reading: Promise<FollowEnd<OrderState, OrderResult>>,
): Promise<Report> {
  try {
    const end = await reading;
    if (end.kind === 'waiting') return waitingReport(io, handle, end.state);
    const { result } = end;
    if (handle.afterEnd) return endOfLookUps(handle, result);
    return {
      exitCode: exitCodeOfResult(result),
      json: { ...idOf(handle), result },
      text: resultText(handle.orderId, result),
    };
  } catch (error) {
    if (!(error instanceof FailedError || error instanceof UnresolvedError)) throw error;
    const report = reportOfError(error);
    return { ...report, json: { ...idOf(handle), ...report.json } };
  }
}

function endOfLookUps(handle: OrderHandle, result: Partial<AfterEndResult>): Report {
  const { changed, shown = 'nothing: its id was in use again' } = result;
  const how = changed ? 'an operator acknowledged the change' : 'nothing had changed';
  const text = `order "${handle.orderId}" after its end: the service showed ${shown}; ${how}`;
  return { exitCode: EXIT.done, json: { ...idOf(handle), result }, text };
}

function waitingReport(io: StarterIo, handle: OrderHandle, state: OrderState | undefined): Report {
  const never = `order "${handle.orderId}" is not decided yet; never start it under another id`;
  const decide = state ? decideText(io.self, handle.account, typedName(handle), state) : '';
  const shown = state ? stateText(handle.orderId, state) : NOBODY_ANSWERS;
  return {
    exitCode: EXIT.undecided,
    json: {
      ...idOf(handle),
      ...(state && { state }),
      ...(decide && { decide: decide.split(/\n */).slice(1) }),
    },
    text: [shown, decide, never].filter(Boolean).join('\n'),
  };
}

const needsDecision = (state: OrderState | undefined): boolean =>
  state?.phase === 'parked' || (state?.attention?.allowed.length ?? 0) > 0;

/** Follows an order with progress on stderr, to its end, to a decision or to the end of the time given. */
export function waitForOrder(io: StarterIo, handle: OrderHandle, timeoutMs?: number): Promise<Report> {
  const where = whereItStands(io, typedName(handle), handle.account);
  const says = `order "${handle.orderId}" continues without this command; never start it under another id. ${where}`;
  return goingOn(io, says, () => {
    const reading = whileShowing(io.stderr, `waiting for order ${handle.orderId}`, (show) =>
      follow(handle, { timeoutMs, onState: (state) => show(progressLine(state)), isEnough: needsDecision }),
    );
    return reportOf(io, handle, reading);
  });
}

/** Where an order stands, or how it ended. */
export const showOrder = (io: StarterIo, handle: OrderHandle): Promise<Report> => reportOf(io, handle, look(handle));

/** A decision as typed; without a revision and its run it is not one. */
export type TypedDecision = Omit<Decision, 'revision'> & { revision?: number };

const DECISION_FILE_FIELDS = ['revertTo', 'wallet_details'];

/** Reads what a decision must not name on a command line. Throws UsageError or InvalidInputError. */
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

/** Hands a decision over. Without `--revision` and `--run` it shows what there is to decide on: people decide on what they saw. */
export async function decideOrder(
  io: StarterIo,
  handle: OrderHandle,
  typed: TypedDecision,
  sign: SignOptions = {},
): Promise<Report> {
  const { revision, runId } = typed;
  if (revision === undefined || runId === undefined) {
    const missing = '--revision or --run is missing: decide on what is shown here, as the commands name it';
    return notDecided(await showOrder(io, handle), missing);
  }
  const taken = await handle.decide({ ...typed, revision }, sign);
  // The answer is from before the workflow acted on it, and would still show what was decided just now.
  const state = await handle.state().catch(() => taken);
  return {
    exitCode: EXIT.done,
    json: { ...idOf(handle), decided: typed.action, state },
    text: `order "${handle.orderId}" took the decision ${typed.action}. To follow it: ${suggested(io.self, [`order wait ${typedName(handle)}`, ofAccount(handle.account)])}`,
  };
}

/** Asks that an order sends nothing any more; whether something was sent before shows by its end. */
export async function cancelOrder(io: StarterIo, handle: OrderHandle): Promise<Report> {
  await handle.cancel();
  const wait = suggested(io.self, [`order wait ${typedName(handle)}`, ofAccount(handle.account)]);
  return {
    exitCode: EXIT.done,
    json: { ...idOf(handle), cancelRequested: true },
    text: `Cancellation of order "${handle.orderId}" is requested. If nothing was sent, it ends as OrderCancelled. If it was sent, it is followed to its end: ${wait}`,
  };
}

/** Orders known to Temporal. */
export async function listOrders(io: StarterIo, orders: PaymentOrders, filter: OrderFilter): Promise<Report> {
  const found = await orders.list(filter);
  const { columns } = io.stdout;
  const isCut = found.length === filter.limit;
  const listed = [
    listText(found, columns),
    ...(isCut ? [`the newest ${filter.limit}; there may be more: --limit`] : []),
  ];
  if (!filter.needsAttention) return { exitCode: EXIT.done, json: { orders: found }, text: listed.join('\n') };
  // Who asks this wants to know what to do next, and a reconciliation or a batch may be what there is to do.
  const elsewhere = await orders.attentionElsewhere({ account: filter.account });
  const text = [listed.join('\n'), ...(elsewhere.length > 0 ? [elsewhereText(elsewhere, columns)] : [])].join('\n\n');
  return { exitCode: EXIT.done, json: { orders: found, elsewhere }, text };
}
