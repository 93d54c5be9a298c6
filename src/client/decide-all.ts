import type { Client } from '@temporalio/client';
import type { AttentionCode } from '../contract/attention.js';
import { decimal, sum, toAmount } from '../contract/money.js';
import { DEFAULT_ACCOUNT, quoted, receivedWorkflowId, searchAttribute } from '../contract/names.js';
import type { DecideAction, Decision, DecisionChoice, OrderState } from '../contract/order/messages.js';
import { MAX_SIGNED_TOGETHER } from '../contract/signature.js';
import { listName } from '../contract/signed-together.js';
import { messageOf } from '../contract/words.js';
import { NoWorkerError, RefusedError } from './errors.js';
import { firstOf, type OrderListEntry, orderQuery, toEntry } from './list-orders.js';
import { OrderHandle } from './order-handle.js';
import { type ForRun, type SignOptions, signTogether, textsOf } from './signing.js';

/**
 * Which orders of an account take which decision: all that are open and ask for a person for the
 * same reason.
 */
export interface DecideAllInput {
  account?: string;
  code: AttentionCode;
  action: DecideAction;
  by: string;
  reason: string;
}

/**
 * One order that would take the decision. `amount`: what it was asked for, or what the decision
 * moves, such as `12.50 usd`.
 */
export interface DecidableOrder {
  orderId: string;
  received: boolean;
  since: Date;
  amount?: string;
  decision: Decision;
}

/** What became of one order, and why. */
export interface NotDecided {
  orderId: string;
  why: string;
}

/**
 * What would be decided, oldest first. `more`: so many others want a person for this reason;
 * `left`: those that do not take it.
 */
export interface DecideAllPlan {
  account: string;
  does: string[];
  orders: DecidableOrder[];
  amounts: Record<string, string>;
  /** Orders whose amount is not shown. */
  withoutAmount: number;
  left: NotDecided[];
  more: number;
  /**
   * Changes with every order, revision, run and field of a decision. It is what one signature is
   * for.
   */
  digest: string;
}

/** What was decided. `open`: no answer came in time, so that the order may have been decided. */
export interface DecideAllResult {
  decided: string[];
  refused: NotDecided[];
  open: NotDecided[];
}

/** Orders that are asked at the same time. */
const AT_ONCE = 10;
/** Orders that are looked for. */
const MOST_FOUND = 10_000;

/** Shows what would be decided, and decides nothing. */
export async function planDecisions(
  client: Client,
  { account = DEFAULT_ACCOUNT, code, action, by, reason }: DecideAllInput,
): Promise<DecideAllPlan> {
  const why = `${searchAttribute.attentionReason.name} = ${quoted(code)}`;
  const query = `${orderQuery({ account, needsAttention: true })} AND ${why} AND ExecutionStatus = 'Running'`;
  const found = (await firstOf(client, query, MOST_FOUND, toEntry)).sort((one, other) => sinceOf(one) - sinceOf(other));
  const looked = found.slice(0, MAX_SIGNED_TOGETHER);
  const orders: DecidableOrder[] = [];
  const left: NotDecided[] = [];
  const does = new Set<string>();
  await inTurn(looked, async (entry) => {
    const { orderId, received } = entry;
    const state = await stateOf(handleOf(client, account, entry));
    if (!state) {
      left.push({ orderId, why: 'no worker answered for it' });
      return;
    }
    const choices = state.decisions.filter(({ decision }) => decision.action === action);
    const problem = state.attention?.code === code ? problemOf(choices, action) : 'it asks for something else by now';
    const [choice] = choices;
    if (problem || !choice) {
      left.push({ orderId, why: problem ?? '' });
      return;
    }
    does.add(choice.does);
    const amount = choice.amount ? `${choice.amount} ${choice.currency}` : entry.attention?.amount;
    const decision = { ...choice.decision, by, reason };
    orders.push({ orderId, received, since: new Date(sinceOf(entry)), ...(amount && { amount }), decision });
  });
  orders.sort((one, other) => one.since.getTime() - other.since.getTime());
  return {
    account,
    does: [...does],
    orders,
    ...amountsOf(orders),
    left,
    more: found.length - looked.length,
    digest: listName(textsOf(orders.map((order) => forRun(client, account, order)))),
  };
}

/**
 * Decides what was shown, by one signature where somebody signs. Each order checks for itself that
 * it was shown like this.
 */
export async function decideAll(
  client: Client,
  { account, orders }: DecideAllPlan,
  { signer }: SignOptions = {},
): Promise<DecideAllResult> {
  const all = orders.map((order) => forRun(client, account, order));
  const signature = signer && (await signTogether(all, signer));
  const result: DecideAllResult = { decided: [], refused: [], open: [] };
  await inTurn(orders, async (order) => {
    const { orderId, decision } = order;
    try {
      await handleOf(client, account, order).decide({ ...decision, ...(signature && { signature }) });
      result.decided.push(orderId);
    } catch (error) {
      (error instanceof RefusedError ? result.refused : result.open).push({ orderId, why: messageOf(error) });
    }
  });
  return result;
}

/** The state; undefined where no worker answers. */
const stateOf = (handle: OrderHandle): Promise<OrderState | undefined> =>
  handle.state().catch((error: unknown) => {
    if (error instanceof NoWorkerError) return undefined;
    throw error;
  });

const sinceOf = ({ attention, startedAt }: OrderListEntry): number => (attention?.since ?? startedAt).getTime();

const handleOf = (client: Client, account: string, { orderId, received }: { orderId: string; received: boolean }) =>
  new OrderHandle(client, account, orderId, received ? { workflowId: receivedWorkflowId(account, orderId) } : {});

function forRun(client: Client, account: string, order: DecidableOrder): ForRun {
  const { workflowId } = handleOf(client, account, order);
  const { decision } = order;
  const { namespace } = client.options;
  return { run: { namespace, account, workflowId, runId: decision.runId ?? '' }, decision };
}

/**
 * Why an order is not decided with the others: what has to be chosen for it alone stays for a
 * person who looks at it.
 */
function problemOf(choices: readonly DecisionChoice[], action: DecideAction): string | undefined {
  const [choice, ...others] = choices;
  if (!choice) return `it does not take ${action} now`;
  if (choice.alone) return `${choice.alone}: decide it alone`;
  if (others.length > 0) return `it takes ${action} in several ways: decide it alone`;
  if (choice.needs) return `${action} needs ${choice.needs}: decide it alone`;
  return (
    choice.decision.differences && `${action} passes over ${choice.decision.differences.join(', ')}: decide it alone`
  );
}

/** An amount with its currency as lists show it; of an exchange the side that was given. */
const SHOWN = /(\d+(?:\.\d+)?) ([A-Za-z0-9_]+)/;

function amountsOf(orders: readonly DecidableOrder[]): Pick<DecideAllPlan, 'amounts' | 'withoutAmount'> {
  const shown = orders.flatMap(({ amount = '' }) => {
    const [, value, currency] = SHOWN.exec(amount) ?? [];
    return value && currency ? [{ value: decimal(value), currency }] : [];
  });
  const currencies = [...new Set(shown.map(({ currency }) => currency))].sort();
  const total = (of: string) => sum(shown.flatMap(({ value, currency }) => (currency === of ? [value] : [])));
  return {
    amounts: Object.fromEntries(currencies.map((currency) => [currency, toAmount(total(currency))])),
    withoutAmount: orders.length - shown.length,
  };
}

/** Runs a step for each item, some at the same time. */
async function inTurn<T>(items: readonly T[], step: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  const work = async (): Promise<void> => {
    for (const item of rest) await step(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}
