import type { Client } from '@temporalio/client';
import type { AttentionCode } from '../contract/attention.js';
import { messageOf } from '../contract/failures.js';
import { decimal, sum, toAmount } from '../contract/money.js';
import { DEFAULT_ACCOUNT, quoted, searchAttribute } from '../contract/names.js';
import type { DecideAction, Decision, DecisionChoice, OrderState } from '../contract/order/messages.js';
import { MAX_SIGNED_TOGETHER } from '../contract/signature.js';
import { listName } from '../contract/signed-together.js';
import { bounded, type WaitOptions } from './bounded.js';
import { NoWorkerError, RefusedError } from './errors.js';
import { type OrderListEntry, orderQuery, toEntry } from './list-orders.js';
import { OrderHandle } from './order-handle.js';
import { MAX_PAGE, readPage } from './pages.js';
import { type ForRun, type SignOptions, signTogether, textsOf } from './signing.js';
import { throwNoWorker } from './temporal-calls.js';

/** Decision for all open orders of an account with the same reason code. */
export interface DecideAllInput {
  account?: string;
  code: AttentionCode;
  action: DecideAction;
  by: string;
  reason: string;
}

/** Order that the decision fits. `moves`: money, such as `12.50 usd`. */
export interface DecidableOrder extends Pick<OrderState, 'warnings'> {
  orderId: string;
  workflowId: string;
  since: Date;
  moves?: string;
  decision: Decision;
}

/** Order that was not decided, and why. */
export interface NotDecided {
  orderId: string;
  why: string;
}

/** Plan of decisions, oldest first. `more`: orders beyond the limit. `left`: not decidable. */
export interface DecideAllPlan {
  account: string;
  does: string[];
  orders: DecidableOrder[];
  amounts: Record<string, string>;
  /** Number of orders whose amount is unknown. */
  withoutAmount: number;
  left: NotDecided[];
  more: number;
  /** Hash of every order, revision, run and field of the decisions. The signature covers it. */
  digest: string;
}

/** Results of the decisions. `open`: no answer in time; the order may have been decided. */
export interface DecideAllResult {
  decided: string[];
  refused: NotDecided[];
  open: NotDecided[];
}

/** Maximum number of orders that are queried at the same time. */
const AT_ONCE = 10;

/** Returns what would be decided. Decides nothing. */
export const planDecisions = (client: Client, input: DecideAllInput, wait: WaitOptions = {}): Promise<DecideAllPlan> =>
  bounded(
    client,
    wait,
    () => plan(client, input),
    () => throwNoWorker(client),
  );

async function plan(
  client: Client,
  { account = DEFAULT_ACCOUNT, code, action, by, reason }: DecideAllInput,
): Promise<DecideAllPlan> {
  const why = `${searchAttribute.attentionReason.name} = ${quoted(code)}`;
  const query = `${orderQuery({ account, needsAttention: true })} AND ${why} AND ExecutionStatus = 'Running'`;
  const found: OrderListEntry[] = [];
  let token: Uint8Array | undefined;
  do {
    const page = await readPage(client, { query, pageSize: MAX_PAGE, token }, () => false);
    found.push(...page.runs.flatMap((info) => toEntry(info) ?? []));
    token = page.token;
  } while (token);
  const looked = found.sort((one, other) => +sinceOf(one) - +sinceOf(other)).slice(0, MAX_SIGNED_TOGETHER);
  const orders: DecidableOrder[] = [];
  const left: NotDecided[] = [];
  const does = new Set<string>();
  await inTurn(looked, async (entry) => {
    const { orderId, workflowId, attention } = entry;
    const choice = await choiceOf(new OrderHandle(client, account, orderId, { workflowId }), code, action);
    if (typeof choice === 'string') {
      left.push({ orderId, why: choice });
      return;
    }
    does.add(choice.does);
    const moves = choice.amount ? `${choice.amount} ${choice.currency}` : attention?.moves;
    const { warnings } = choice;
    const shown = { ...(moves && { moves }), ...(warnings && { warnings }) };
    const decision = { ...choice.decision, by, reason };
    orders.push({ orderId, workflowId, since: sinceOf(entry), ...shown, decision });
  });
  orders.sort((one, other) => +one.since - +other.since);
  const digest = listName(textsOf(orders.map((order) => forRun(client, account, order))));
  return { account, does: [...does], orders, ...amountsOf(orders), left, more: found.length - looked.length, digest };
}

/** Applies the plan, signed once. Each order checks its decision; without answer it is `open`. */
export async function decideAll(
  client: Client,
  plan: DecideAllPlan,
  { signer, ...wait }: SignOptions & WaitOptions = {},
): Promise<DecideAllResult> {
  const result: DecideAllResult = { decided: [], refused: [], open: [] };
  const decide = async () => {
    await decideEach(client, plan, signer, result);
    return result;
  };
  return bounded(client, wait, decide, () => {
    const answered = new Set([...result.decided, ...[...result.refused, ...result.open].map(({ orderId }) => orderId)]);
    const open = plan.orders.filter(({ orderId }) => !answered.has(orderId));
    const why = `no answer in ${wait.timeoutMs} ms`;
    return { ...result, open: [...result.open, ...open.map(({ orderId }) => ({ orderId, why }))] };
  });
}

async function decideEach(
  client: Client,
  { account, orders }: DecideAllPlan,
  signer: SignOptions['signer'],
  result: DecideAllResult,
): Promise<void> {
  const all = orders.map((order) => forRun(client, account, order));
  const signature = signer && (await signTogether(all, signer));
  await inTurn(orders, async ({ orderId, workflowId, decision }) => {
    try {
      const handle = new OrderHandle(client, account, orderId, { workflowId });
      await handle.decide({ ...decision, ...(signature && { signature }) });
      result.decided.push(orderId);
    } catch (error) {
      (error instanceof RefusedError ? result.refused : result.open).push({ orderId, why: messageOf(error) });
    }
  });
}

const sinceOf = ({ attention, startedAt }: OrderListEntry): Date => attention?.since ?? startedAt;

const forRun = (client: Client, account: string, { workflowId, decision }: DecidableOrder): ForRun => ({
  run: { namespace: client.options.namespace, account, workflowId, runId: decision.runId ?? '' },
  decision,
});

/** Returns the decision for an order, or why it cannot be decided together with the others. */
async function choiceOf(
  handle: OrderHandle,
  code: AttentionCode,
  action: DecideAction,
): Promise<(DecisionChoice & Pick<OrderState, 'warnings'>) | string> {
  const state = await handle.state().catch((error: unknown) => {
    if (error instanceof NoWorkerError) return undefined;
    throw error;
  });
  if (!state) return 'no worker answered for it';
  if (state.attention?.code !== code) return 'it asks for something else by now';
  const [choice, ...others] = state.decisions.filter(({ decision }) => decision.action === action);
  if (!choice) return `it does not take ${action} now`;
  if (choice.alone) return `${choice.alone}: decide it alone`;
  if (others.length > 0) return `it takes ${action} in several ways: decide it alone`;
  if (choice.needs) return `${action} needs ${choice.needs}: decide it alone`;
  const { differences } = choice.decision;
  if (differences) return `${action} passes over ${differences.join(', ')}: decide it alone`;
  return { ...choice, ...(state.warnings && { warnings: state.warnings }) };
}

/** Amount with its currency as lists show it. For an exchange, it is the side that was given. */
const SHOWN = /(\d+(?:\.\d+)?) ([A-Za-z0-9_]+)/;

function amountsOf(orders: readonly DecidableOrder[]): Pick<DecideAllPlan, 'amounts' | 'withoutAmount'> {
  const shown = orders.flatMap(({ moves = '' }) => {
    const [, value, currency] = SHOWN.exec(moves) ?? [];
    return value && currency ? [{ value: decimal(value), currency }] : [];
  });
  const currencies = [...new Set(shown.map(({ currency }) => currency))].sort();
  const total = (of: string) => sum(shown.flatMap(({ value, currency }) => (currency === of ? [value] : [])));
  return {
    amounts: Object.fromEntries(currencies.map((currency) => [currency, toAmount(total(currency))])),
    withoutAmount: orders.length - shown.length,
  };
}

/** Runs a step for each item, a few at the same time. */
async function inTurn<T>(items: readonly T[], step: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  const work = async (): Promise<void> => {
    for (const item of rest) await step(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}
