import type { Amount } from '../../contract/money.js';

/**
 * Balance changes as a graph: an edge from the balance before to the balance after. All changes of a time form one trail:
 * each balance is left as often as it is arrived at, but for the first and the last one. A missing change cuts the trail:
 * one balance was arrived at and never left, another one left without an arrival. That depends neither on the order of
 * the list nor on timestamps that are equal; timestamps only say in which order several pieces came.
 */
export interface BalanceStep {
  before: Amount;
  after: Amount;
  at: string;
  /** Of a step that stands for many: the time of the last one. */
  until?: string;
}

/** A piece of the trail, from one balance to another; `holds` says which balances it touches. */
export interface Trail {
  from: Amount;
  to: Amount;
  since: string;
  until: string;
  holds: (balance: Amount) => boolean;
}

/** The pieces in their order, and `asides`: pieces that begin and end while the main trail goes on. */
export interface Trails {
  trails: Trail[];
  asides: Trail[];
  start: Amount;
  end: Amount;
}

/** The times at which a balance was arrived at and left, ascending. */
interface Node {
  arrivals: string[];
  departures: string[];
}

interface Tip {
  balance: Amount;
  at: string;
}

const [BEFORE_ALL, AFTER_ALL] = ['', '\uffff'];

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const byTime = (a: { at: string }, b: { at: string }): number => byText(a.at, b.at);

/** Sorts the steps by time and finds their trails. `balance`: the expected end. Throws where there are no steps. */
export function trailsOf(steps: BalanceStep[], balance: Amount | undefined): Trails {
  steps.sort(byTime);
  const nodes = nodesOf(steps);
  const partOf = components(steps);
  const { start, end } = endsOf(steps, nodes, partOf, balance);
  // The first balance counts as arrived at and the last one as left: then only what is missing stands out.
  nodes.get(start)?.arrivals.unshift(BEFORE_ALL);
  nodes.get(end)?.departures.push(AFTER_ALL);
  const pieces = piecesOf(steps, nodes, partOf, { start, end });
  const isMain = ({ since, until }: Trail) => since === BEFORE_ALL || until === AFTER_ALL;
  const main = pieces.filter(isMain);
  const others = pieces.filter((piece) => !isMain(piece));
  const [first, last] = main;
  if (!first || !last) return { trails: main, asides: others, start, end };
  const inside = others.filter(({ from, to }) => from !== to);
  const loops = others.filter(({ from, to }) => from === to);
  return { trails: [first, ...inside, last], asides: loops, start, end };
}

function nodesOf(steps: readonly BalanceStep[]): Map<Amount, Node> {
  const nodes = new Map<Amount, Node>();
  const at = (balance: Amount): Node => {
    const node = nodes.get(balance) ?? { arrivals: [], departures: [] };
    nodes.set(balance, node);
    return node;
  };
  for (const step of steps) {
    at(step.before).departures.push(step.at);
    at(step.after).arrivals.push(arrivalOf(step));
  }
  return nodes;
}

const arrivalOf = ({ at, until = at }: BalanceStep): string => until;

/** How much more often a balance is left than arrived at. */
const surplus = (node: Node | undefined): number => (node ? node.departures.length - node.arrivals.length : 0);

/** The first and the last balance: those of the earliest and the latest second that are not arrived at or not left. */
function endsOf(
  steps: readonly BalanceStep[],
  nodes: ReadonlyMap<Amount, Node>,
  partOf: (balance: Amount) => Amount,
  balance: Amount | undefined,
): { start: Amount; end: Amount } {
  const first = steps[0];
  if (!first) throw new Error('trails need steps');
  const last = steps.reduce((one, step) => (arrivalOf(step) >= arrivalOf(one) ? step : one), first);
  const earliest = steps.filter(({ at }) => at === first.at).map(({ before }) => before);
  const latest = steps.filter((step) => arrivalOf(step) === arrivalOf(last)).map(({ after }) => after);
  const begins = earliest.filter((value) => surplus(nodes.get(value)) > 0);
  const ends = latest.filter((value) => surplus(nodes.get(value)) < 0);
  if (begins.length === 0 && ends.length === 0) {
    // A trail that comes back to where it began shows neither.
    const both = latest.filter((value) => earliest.includes(value));
    const only = both.find((value) => value === balance) ?? both[0];
    if (only !== undefined) return { start: only, end: only };
  }
  const end =
    ends.find((value) => value === balance) ?? ends[0] ?? latest.find((value) => value === balance) ?? last.after;
  // Of two pieces within one second the one that does not hold the end came first.
  const start = begins.find((value) => partOf(value) !== partOf(end)) ?? begins[0] ?? first.before;
  return { start, end };
}

/** Cuts every connected part into trails: its beginnings and ends matched by time. By the time of their beginning. */
function piecesOf(
  steps: readonly BalanceStep[],
  nodes: ReadonlyMap<Amount, Node>,
  partOf: (balance: Amount) => Amount,
  { start, end }: { start: Amount; end: Amount },
): Trail[] {
  const parts = new Map<Amount, { begins: Tip[]; ends: Tip[]; entry: Tip }>();
  for (const { before: balance, at } of steps) {
    if (!parts.has(partOf(balance))) parts.set(partOf(balance), { begins: [], ends: [], entry: { balance, at } });
  }
  const add = (side: 'begins' | 'ends', tip: Tip) => parts.get(partOf(tip.balance))?.[side].push(tip);
  add('begins', { balance: start, at: BEFORE_ALL });
  add('ends', { balance: end, at: AFTER_ALL });
  for (const [balance, node] of nodes) {
    for (const at of unarrived(node)) add('begins', { balance, at });
    for (const at of unleft(node)) add('ends', { balance, at });
  }
  return [...parts]
    .flatMap(([part, { begins, ends, entry }]) => {
      const holds = (balance: Amount) => partOf(balance) === part;
      // A part that is whole in itself is a loop: it is entered and left at the same balance.
      const [starts, stops] = begins.length === 0 ? [[entry], [entry]] : [begins.sort(byTime), ends.sort(byTime)];
      return starts.flatMap(({ balance: from, at: since }, rank) => {
        const stop = stops[rank];
        return stop ? [{ from, to: stop.balance, since, until: stop.at, holds }] : [];
      });
    })
    .sort((a, b) => byText(a.since, b.since) || byText(a.until, b.until));
}

/** The first departures for which nothing had arrived by then, as many as there are too many. */
function unarrived(node: Node): string[] {
  const excess = surplus(node);
  return excess > 0 ? without(node.departures, node.arrivals, (arrival, at) => arrival <= at).slice(0, excess) : [];
}

/** The last arrivals after which nothing left any more: the same, looked at backwards. */
function unleft(node: Node): string[] {
  const excess = -surplus(node);
  if (excess <= 0) return [];
  const [arrivals, departures] = [node.arrivals.toReversed(), node.departures.toReversed()];
  return without(arrivals, departures, (departure, at) => departure >= at).slice(0, excess);
}

/** The times in `times` that find no partner in `partners`; both are walked through once, in the same direction. */
function without(
  times: readonly string[],
  partners: readonly string[],
  reaches: (partner: string, time: string) => boolean,
): string[] {
  let ready = 0;
  let taken = 0;
  const alone: string[] = [];
  for (const time of times) {
    while (ready < partners.length && reaches(partners[ready] ?? '', time)) ready += 1;
    if (taken < ready) taken += 1;
    else alone.push(time);
  }
  return alone;
}

/** Which balances are connected by changes, by a balance that stands for all of them. */
function components(steps: readonly BalanceStep[]): (balance: Amount) => Amount {
  const parents = new Map<Amount, Amount>();
  const rootOf = (balance: Amount): Amount => {
    let root = balance;
    for (let next = parents.get(root); next !== undefined; next = parents.get(root)) root = next;
    // Shortens the way for the next one; without it, a long chain costs its square.
    for (let at = balance; at !== root; ) {
      const next = parents.get(at) ?? root;
      parents.set(at, root);
      at = next;
    }
    return root;
  };
  for (const { before, after } of steps) {
    const [a, b] = [rootOf(before), rootOf(after)];
    if (a !== b) parents.set(a, b);
  }
  return rootOf;
}
