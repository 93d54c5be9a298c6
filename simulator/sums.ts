import { tsToMs } from '@temporalio/common/lib/time.js';
import type Big from 'big.js';
import type { Finding } from '../chaos/evidence/evidence.js';
import { larger, smaller, ZERO } from '../sandbox/money.js';
import type { StoredOrder } from '../sandbox/stored.js';
import { decimal, sum, toAmount } from '../src/contract/money.js';
import { parseOrderWorkflowId } from '../src/contract/names.js';
import type { CreateVerdict } from '../src/contract/order/activities.js';
import { amountsOf, factsOf, isOrderType, orderSides, orderTypeOf } from '../src/contract/order/types.js';
import type { Run } from './engine/run.js';
import { decode, type HistoryEvent } from './engine/wire.js';
import { type Double, isCanary } from './service.js';
import type { World } from './world.js';

/* Sums of a day by the service's own ledger, beside what the policy let pass and what it held. */

/** The policy asks how an order ended within this share of its age. */
const NOTICED_AT_SHARE = 1.6;
/** And within this time, in which a killed worker's question is asked again. */
const NOTICED_MS = 60_000;
/** An estimate by the rates of the request, of what the service expects at its create. */
const ESTIMATED = { least: '0.94', most: '1.12' };

/** Runs of an order id, and what the service executed under it. */
interface Known {
  orderId: string;
  runs: readonly Run[];
  stored?: StoredOrder | undefined;
  /** The account of the service that has it. */
  account?: Double | undefined;
}

/** What an order may count for at a time in a currency. */
interface Range {
  least: Big;
  most: Big;
}

/** Runs of orders, by id. */
function runsOfOrders({ engine }: World): Map<string, readonly Run[]> {
  const found = [...engine.allRuns()].flatMap(([workflowId, runs]) => {
    const { orderId } = parseOrderWorkflowId(workflowId) ?? {};
    return orderId === undefined ? [] : [[orderId, runs] as const];
  });
  return new Map(found);
}

/** All orders of the service in the order of their creates, and those that it does not have. */
function knownOrders({ service }: World, runsOf: ReadonlyMap<string, readonly Run[]>): Known[] {
  const all = service.doubles.flatMap((account) =>
    [...account.world.store.orders.values()].map((stored) => ({ account, stored })),
  );
  const known = all.filter(({ stored }) => !isCanary(stored.order.user_order_id));
  known.sort((one, other) => one.stored.createdAtMs - other.stored.createdAtMs);
  const ids = new Set(known.map(({ stored }) => stored.order.user_order_id));
  const unsent = [...runsOf].filter(([orderId]) => !ids.has(orderId));
  return [
    ...known.map((one) => {
      const orderId = one.stored.order.user_order_id;
      return { ...one, orderId, runs: runsOf.get(orderId) ?? [] };
    }),
    ...unsent.map(([orderId, runs]) => ({ orderId, runs })),
  ];
}

/** When the last run of an order ended. */
const endMs = ({ runs }: Known): number => runs.at(-1)?.closeMs ?? Number.POSITIVE_INFINITY;

/** What an order that the service has counts for. */
function rangeOf(known: Known, { order, createdAtMs, finalAtMs }: StoredOrder, currency: string, atMs: number): Range {
  const { order_type: type, currency_from: from, currency_to: to, strict_withdrawal_amount: strict } = order;
  const facts = isOrderType(type) ? factsOf(type) : undefined;
  const isTaken = facts?.movesMoneyAtOnce && from === currency;
  if (!isTaken && !(facts?.paysOut && to === currency)) return { least: ZERO, most: ZERO };
  // What a payout takes of its own amount as commission is none of the sum.
  const side = from === to || !isTaken ? 'to' : 'from';
  const isNamed = from === to || (side === 'to') === strict;
  const expected = decimal(order[`expected_amount_${from === to ? 'from' : side}`] ?? '0');
  const moved = decimal(order[`amount_${side}`] ?? '0');
  const asked = isNamed
    ? { least: expected, most: expected }
    : { least: expected.times(ESTIMATED.least), most: expected.times(ESTIMATED.most) };
  const endedMs = Math.max(endMs(known), finalAtMs);
  // Until it is asked how an order ended, either may count: its own follow-up asks sooner.
  const noticedMs = Math.max(createdAtMs + (endedMs - createdAtMs) * NOTICED_AT_SHARE, endedMs + NOTICED_MS);
  return {
    least: finalAtMs >= atMs ? asked.least : noticedMs < atMs ? moved : smaller(asked.least, moved),
    most: endedMs + NOTICED_MS < atMs && order.status !== 'completed' ? moved : larger(asked.most, moved),
  };
}

/** When a person first approved an order, by its id. */
const approvalsOf = ({ audit }: World): Map<string, number> =>
  new Map(
    audit.toReversed().flatMap(({ entry, atMs }) => {
      const { orderId } = parseOrderWorkflowId(entry.workflowId ?? '') ?? {};
      return orderId !== undefined && Object(entry.choice).action === 'approve' ? [[orderId, atMs]] : [];
    }),
  );

/** Creates that nobody approved, and that took a sum of their account above its limit. */
function sentBeyond(world: World, known: readonly Known[]): Finding[] {
  const { limits } = world;
  const approvedMs = approvalsOf(world);
  const sent = known.flatMap((one) => (one.stored ? { ...one, stored: one.stored } : []));
  return [...limits].flatMap(([currency, max]) =>
    sent.flatMap((one, n): Finding[] => {
      const { orderId, stored } = one;
      const atMs = stored.createdAtMs;
      const own = rangeOf(one, stored, currency, atMs).least;
      const isApproved = (approvedMs.get(orderId) ?? atMs) < atMs;
      if (own.eq(0) || isApproved) return [];
      // Who was allowed first, and waits for something else, stays allowed beside what a person approves meanwhile.
      const allowedMs = one.runs[0] ? firstAllowedMs(one.runs[0].history) : atMs;
      const isLater = ({ orderId: id, stored: { createdAtMs } }: (typeof sent)[number]) =>
        createdAtMs > allowedMs && (approvedMs.get(id) ?? createdAtMs) < createdAtMs;
      const before = sent.slice(0, n).filter((other) => other.account === one.account && !isLater(other));
      const total = sum([own, ...before.map((other) => rangeOf(other, other.stored, currency, atMs).least)]);
      const text = `beyond the limit: ${toAmount(total)} of ${max} ${currency} when ${orderId} was sent`;
      return total.gt(max) ? [{ orderId, text }] : [];
    }),
  );
}

/** A person is asked about sums of these currencies. `isFirst`: by the first answer of a create. */
interface Asked {
  orderId: string;
  atMs: number;
  isFirst: boolean;
  currencies: string[];
}

const isCreate = (event: HistoryEvent): boolean =>
  event.activityTaskScheduledEventAttributes?.activityType?.name === 'createOrder';

/** The first answer of a create in a history. */
function firstCreated(history: readonly HistoryEvent[]): HistoryEvent | undefined {
  const id = String(history.find(isCreate)?.eventId);
  return history.find((event) => String(event.activityTaskCompletedEventAttributes?.scheduledEventId) === id);
}

/** When the first create began that no rule held: it is reserved at once, whatever becomes of it. */
function firstAllowedMs(history: readonly HistoryEvent[]): number {
  const held = new Set(
    history.flatMap(({ activityTaskCompletedEventAttributes: completed }) => {
      const [payload] = completed?.result?.payloads ?? [];
      return payload && Object(decode(payload)).kind === 'policy' ? String(completed?.scheduledEventId) : [];
    }),
  );
  const allowed = history.find((event) => isCreate(event) && !held.has(String(event.eventId)));
  return allowed ? tsToMs(allowed.eventTime) : Number.POSITIVE_INFINITY;
}

/** Questions to persons in a history: answers of creates that name totals. */
function askedIn(orderId: string, history: readonly HistoryEvent[]): Asked[] {
  return history.flatMap((event): Asked[] => {
    const [payload] = event.activityTaskCompletedEventAttributes?.result?.payloads ?? [];
    const verdict = payload?.data?.length ? (decode(payload) as CreateVerdict | null) : null;
    if (verdict?.kind !== 'policy') return [];
    if (!/the total would be|cannot be estimated/.test(verdict.reason))
      throw new Error(`a rule that is no sum: ${verdict.reason}`);
    const found = [...verdict.reason.matchAll(/the total would be \S+ (\w+),/g)];
    const currencies = found.map(([, currency = '']) => currency);
    return [{ orderId, atMs: tsToMs(event.eventTime), isFirst: event === firstCreated(history), currencies }];
  });
}

/** Persons who were asked about sums that nothing could have exceeded. */
function heldWithoutNeed(
  world: World,
  known: readonly Known[],
  runsOf: ReadonlyMap<string, readonly Run[]>,
): Finding[] {
  const { limits, forgotMs, acts } = world;
  // What Temporal forgot, and what stands at another account, counts for more, never for less.
  if (forgotMs.length > 0 || acts.some((name) => name === 'elsewhere' || name === 'retention')) return [];
  const asked = [...runsOf].flatMap(([orderId, runs]) => runs.flatMap(({ history }) => askedIn(orderId, history)));
  const approvedMs = approvalsOf(world);
  // One that was allowed before it waited for something else counts on.
  const held = asked.filter(({ isFirst }) => isFirst);
  const heldMs = new Map(held.toReversed().map(({ orderId, atMs }) => [orderId, atMs]));
  return asked.flatMap(({ orderId, atMs, currencies }) =>
    currencies.flatMap((currency): Finding[] => {
      const max = limits.get(currency);
      const most = known.map((one) => {
        const wasSent = one.stored !== undefined && one.stored.createdAtMs < atMs;
        const isNew = one.runs.length > 0 && one.runs.every(({ begunMs }) => begunMs > atMs);
        // Who is asked about counts nowhere before the answer.
        const isApproved = (approvedMs.get(one.orderId) ?? atMs) < atMs;
        // A run that a reset began since may have sent it, as far as it knows.
        const sinceMs = Math.max(heldMs.get(one.orderId) ?? atMs, ...one.runs.map(({ begunMs }) => begunMs));
        const isHeld = !wasSent && !isApproved && sinceMs === heldMs.get(one.orderId) && sinceMs < atMs;
        if (one.orderId !== orderId && (isNew || isHeld)) return ZERO;
        if (one.stored) return rangeOf(one, one.stored, currency, atMs).most;
        return endMs(one) + NOTICED_MS < atMs ? ZERO : askedFor(one.runs, currency);
      });
      if (max === undefined || most.includes(undefined)) return [];
      const total = sum(most.map((one) => one ?? ZERO));
      const text = `held without need: ${orderId}, at most ${toAmount(total)} of ${max} ${currency}`;
      return total.lte(max) ? [{ orderId, text }] : [];
    }),
  );
}

/** What a request asks for in a currency that its type moves; undefined if only rates say it. */
function askedFor([run]: readonly Run[], currency: string): Big | undefined {
  const type = run && orderTypeOf(run.start.type);
  const [payload] = run?.start.input ?? [];
  if (!type || !payload || !(factsOf(type).movesMoneyAtOnce || factsOf(type).paysOut)) return ZERO;
  const { order } = decode(payload) as { order: Parameters<typeof orderSides>[1] };
  const { currencyFrom, currencyTo } = orderSides(type, order);
  if (currencyFrom !== currency && currencyTo !== currency) return ZERO;
  const [named] = amountsOf(type, order).filter((one) => one.currency === currency);
  return named && decimal(named.amount);
}

/** Sums that were exceeded, and persons who were asked although they were not. */
export function wrongSums(world: World): Finding[] {
  if (world.limits.size === 0) return [];
  const runsOf = runsOfOrders(world);
  const known = knownOrders(world, runsOf);
  return [...sentBeyond(world, known), ...heldWithoutNeed(world, known, runsOf)];
}
