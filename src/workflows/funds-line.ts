import {
  ActivityFailure,
  condition,
  continueAsNew,
  defineSignal,
  getExternalWorkflowHandle,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type Big from 'big.js';
import type { Activities } from '../activities/index.js';
import { type Amount, decimal, divide, toAmount } from '../contract/money.js';
import {
  FUNDS_SIGNAL,
  fundsLineWorkflowId,
  GO_FIRST_SIGNAL,
  JOIN_LINE_SIGNAL,
  LEAVE_LINE_SIGNAL,
} from '../contract/names.js';
import type { FundsLineInput, FundsLook, FundsNews, Place } from '../contract/order/funds.js';
import { readOnly, untilOver } from './activity-calls.js';
import { beforeEnd } from './outbox.js';

/** Orders that start together join within this time, so that the oldest of them goes first. */
const GATHER_MS = 1_000;
/** Wait after a look that failed for good, and time without orders after which the line ends. */
const PAUSE_MS = 60_000;
/** Interval in which funded orders are checked while none waits. */
const IDLE_MS = 3_600_000;
/** Events after which the line continues in a new run. */
const MAX_EVENTS = 1_000;
/** Time between two orders that overtake for those in doubt. In an outage, each adds a doubt. */
const BETWEEN_FIRST_MS = 600_000;
/** Orders of which a look checks whether they were terminated. */
const CHECKED_AT_ONCE = 20;

interface Line {
  account: string;
  places: Map<string, Place>;
  /** Orders came or left since the last look, or one shall go first. */
  isChanged: boolean;
  /** Orders in doubt wait for a later one, so the smallest that is covered overtakes. */
  isOneFirst: boolean;
  /** When one overtook for them last. */
  firstAtMs: number;
  /** Number of signals to orders under way. */
  telling: number;
}

/**
 * Line of an account's orders that wait for funds: one look at the balance serves all, and two
 * orders never get the same money. Ends when it is empty.
 */
export async function fundsLine(input?: FundsLineInput): Promise<void> {
  const line: Line = {
    // Something may have started it without an input.
    account: workflowInfo().workflowId.replace(fundsLineWorkflowId(''), ''),
    places: new Map(),
    isChanged: true,
    isOneFirst: false,
    firstAtMs: 0,
    telling: 0,
  };
  for (const place of input?.places ?? []) line.places.set(place.workflowId, place);
  setHandler(defineSignal<[Place?]>(JOIN_LINE_SIGNAL), (place) => join(line, place), {
    description: 'An order waits for funds. Only workflows of this package send it.',
  });
  setHandler(defineSignal<[string?]>(LEAVE_LINE_SIGNAL), (id) => leave(line, id), {
    description: 'The workflow with this id waits no more, or its order is over.',
  });
  setHandler(
    defineSignal(GO_FIRST_SIGNAL),
    () => {
      if (Date.now() - line.firstAtMs < BETWEEN_FIRST_MS) return;
      line.isOneFirst = true;
      line.isChanged = true;
    },
    { description: 'Orders in doubt wait for a later one: the smallest that is covered may overtake, once.' },
  );
  const isEmpty = async () =>
    line.places.size === 0 &&
    !(await condition(() => line.places.size > 0, PAUSE_MS, { summary: 'Until another order waits' }));
  const serveAll = async () => {
    while (!isLong(line) && !(await isEmpty())) await serveNext(line);
    await condition(() => line.telling === 0);
  };
  await beforeEnd(serveAll, () => line.telling > 0 || (line.places.size > 0 && !isLong(line)));
  if (line.places.size > 0)
    await continueAsNew<typeof fundsLine>({ account: line.account, places: [...line.places.values()] });
}

/** Returns true if the next run has to take over. It knows of no request to go first. */
const isLong = ({ isOneFirst }: Line): boolean => workflowInfo().historyLength >= MAX_EVENTS && !isOneFirst;

function join(line: Line, place: Place | undefined): void {
  if (typeof place?.workflowId !== 'string') return;
  line.isChanged = true;
  const known = line.places.get(place.workflowId);
  // A reset order has forgotten that it has its funds.
  if (known?.isFunded && known.leftAtMs === undefined) void tell(line, known, {});
  else line.places.set(place.workflowId, { ...place, ...(known?.isTold && { isTold: true }) });
}

function leave(line: Line, workflowId: string | undefined): void {
  const place = line.places.get(String(workflowId));
  if (!place) return;
  line.isChanged = true;
  if (place.isFunded) place.leftAtMs ??= Date.now();
  else line.places.delete(place.workflowId);
}

const waitingOf = ({ places }: Line): Place[] =>
  [...places.values()]
    .filter(({ isFunded }) => !isFunded)
    .sort((a, b) => a.startedAtMs - b.startedAtMs || (a.workflowId < b.workflowId ? -1 : 1));

/**
 * Looks at the balance once and gives funds: at once if orders came or left, otherwise when it
 * covers one. A balance that moves below that costs neither history nor requests.
 */
async function serveNext(line: Line): Promise<void> {
  const isNew = line.isChanged;
  if (isNew) await sleep(GATHER_MS, { summary: 'Until those that start together are here' });
  else if (waitingOf(line).length === 0) {
    await condition(() => line.isChanged, IDLE_MS, { summary: 'Until an order waits or is over' });
    line.isChanged = true;
    return;
  }
  if (isNew) line.isChanged = false;
  const look = await lookAt(line, isNew ? undefined : enoughFor(line));
  if (look) await serve(line, look.found, look.askedAtMs);
  else line.isChanged = true;
}

/** Returns the balances that give one of the orders its funds. */
function enoughFor(line: Line): Record<string, Amount> {
  const enough: Record<string, Amount> = {};
  const waiting = waitingOf(line);
  for (const { currency, amount, overtakes } of waiting) {
    const isOldest = enough[currency] === undefined;
    if (isOldest || (overtakes && decimal(amount).lt(enough[currency] ?? amount))) enough[currency] = amount;
  }
  for (const { isFunded, currency, amount } of line.places.values()) {
    const least = enough[currency];
    if (isFunded && least !== undefined) enough[currency] = toAmount(decimal(least).plus(decimal(amount)));
  }
  return enough;
}

/** Returns balances; undefined if orders came or left, or after a failure. */
async function lookAt(
  line: Line,
  enough?: Record<string, Amount>,
): Promise<{ found: FundsLook; askedAtMs: number } | undefined> {
  const { account, places } = line;
  const all = [...places.values()].sort((a, b) => a.startedAtMs - b.startedAtMs);
  const currencies = [...new Set(all.map(({ currency }) => currency))].sort();
  const workflowIds = all.slice(0, CHECKED_AT_ONCE).map(({ workflowId }) => workflowId);
  const askedAtMs = Date.now();
  const summary = `Funds of ${waitingOf(line).length} orders that wait`;
  const { lookAtFunds } = proxyActivities<Activities>({ ...readOnly(account), summary });
  try {
    const asked = { account, currencies, workflowIds, ...(enough && { enough }) };
    const found = await untilOver(
      () => lookAtFunds(asked),
      () => enough !== undefined && line.isChanged,
    );
    return { found, askedAtMs };
  } catch (error) {
    if (isCancellation(error)) return undefined;
    if (!(error instanceof ActivityFailure)) throw error;
    await sleep(PAUSE_MS, { summary: 'Before the balance is asked again' });
    return undefined;
  }
}

/** Gives the balance to the oldest orders, and to smaller ones that may overtake. */
async function serve(line: Line, { balances, gone }: FundsLook, askedAtMs: number): Promise<void> {
  const { places } = line;
  for (const id of gone) places.delete(id);
  // The balance was read after they were over, so it shows what they took.
  for (const { workflowId, leftAtMs } of places.values()) {
    if (leftAtMs !== undefined && leftAtMs < askedAtMs) places.delete(workflowId);
  }
  const free = new Map<string, Big>();
  for (const [currency, amount] of Object.entries(balances)) if (amount !== null) free.set(currency, decimal(amount));
  const take = (currency: string, amount: Amount) => {
    const left = free.get(currency)?.minus(decimal(amount));
    if (left) free.set(currency, left);
  };
  for (const { isFunded, currency, amount } of places.values()) if (isFunded) take(currency, amount);
  const before = new Map<string, number>();
  const news: Promise<void>[] = [];
  const first = takeFirst(line, free);
  for (const place of waitingOf(line)) {
    const { currency, amount, overtakes } = place;
    const older = before.get(currency) ?? 0;
    const left = free.get(currency);
    if (left?.gte(amount) && (older === 0 || overtakes || place === first)) {
      take(currency, amount);
      place.isFunded = true;
      news.push(tell(line, place, {}));
      continue;
    }
    before.set(currency, older + 1);
    if (place.isTold) continue;
    place.isTold = true;
    news.push(tell(line, place, { ...missingOf(left, amount), before: older }));
  }
  setCurrentDetails(detailsOf(line, free));
  await Promise.all(news);
}

/** Returns the order that overtakes for those in doubt, once for each request. */
function takeFirst(line: Line, free: ReadonlyMap<string, Big>): Place | undefined {
  const first = line.isOneFirst ? smallest(waitingOf(line), free) : undefined;
  line.isOneFirst = false;
  if (first) line.firstAtMs = Date.now();
  return first;
}

/** Returns the order that takes the smallest part of what is left of its currency. */
function smallest(places: readonly Place[], free: ReadonlyMap<string, Big>): Place | undefined {
  const partOf = ({ currency, amount }: Place) => divide(decimal(amount), free.get(currency) ?? decimal('1'));
  const covered = places.filter(({ currency, amount }) => free.get(currency)?.gte(amount));
  return covered.toSorted((a, b) => partOf(a).cmp(partOf(b)))[0];
}

function missingOf(left: Big | undefined, amount: Amount): FundsNews {
  if (!left) return { missing: amount, available: null };
  const available = left.lt(0) ? decimal('0') : left;
  const missing = decimal(amount).minus(available);
  return { missing: toAmount(missing.lt(0) ? decimal('0') : missing), available: toAmount(available) };
}

/** Tells an order. One that is closed leaves the line. */
async function tell(line: Line, { workflowId }: Place, news: FundsNews): Promise<void> {
  line.telling += 1;
  try {
    await getExternalWorkflowHandle(workflowId).signal(FUNDS_SIGNAL, news);
  } catch {
    line.places.delete(workflowId);
  } finally {
    line.telling -= 1;
  }
}

/** Orders on the page. The oldest come first. */
const SHOWN = 20;

function detailsOf(line: Line, free: ReadonlyMap<string, Big>): string {
  const waiting = waitingOf(line);
  const left = [...free].map(([currency, amount]) => `${toAmount(amount)} ${currency}`).join(', ');
  return [
    `**${waiting.length}** orders wait for funds; ${line.places.size - waiting.length} have theirs and are not over.`,
    `Left of the balance: ${left || 'not known'}`,
    ...waiting.slice(0, SHOWN).map((one) => `- \`${one.workflowId}\` needs ${one.amount} ${one.currency}`),
  ].join('\n\n');
}
