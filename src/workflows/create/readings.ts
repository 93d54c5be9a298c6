import { shownDifferences } from '../../contract/differences/echo.js';
import type { Control, DuplicateOrders, LookUpAnswer, LookUpReading } from '../../contract/order/activities.js';
import type { Order } from '../../contract/service-objects.js';
import { askForReading, type Looking, lookUp } from '../ask/ask.js';
import { enterPhase } from '../order/show.js';
import type { Candidate, OrderRun } from '../order/state.js';
import { wasEverInDoubt } from './facts.js';

/** Candidates shown to an operator; the reason names all of them. */
export const MAX_CANDIDATES = 3;

/** Our order at the service. */
export interface Ours {
  kind: 'ours';
  order: Order;
  how: 'accepted' | 'adopted';
  /** Fields that the service shows in another form. They raise attention. */
  soft?: readonly string[];
  /** Differences that an operator accepted. */
  acceptedDifferences?: string[];
  /** Why its amount is above cap and approval. */
  aboveCap?: string;
}

/** Something under our id that is not simply our order. */
export interface Conflict {
  kind: 'conflict';
  reason: string;
  /** Those of several orders that match our request. */
  ours: readonly string[];
  /** What an operator may adopt: the orders that are ours or, if none is, those shown. */
  candidates: readonly Candidate[];
  /** An operator is asked without further readings. */
  askAtOnce?: true;
  /** The service named it in the answer to our create. */
  isNamed?: true;
  /** The order that is not like ours, and the fields that differ. */
  foreign?: { order: Order; differences: string[]; soft?: readonly string[] };
}

/** Returns true if only the id has another form, or if the service named the order for our create. */
export const isFollowable = ({ foreign, isNamed }: Conflict): boolean =>
  isNamed === true || !foreign?.differences.includes('order_id') || foreign.differences.length === 1;

/** Our order is not shown. `said`: answer of the status operation, for operators. */
export interface Absent {
  kind: 'absent';
  said?: string;
  control?: Control;
}

/** What the service shows. */
export type Seen = Ours | Absent | Conflict;

/** Looks the order up once and returns what the service shows. */
export async function look(run: OrderRun, { waitingFor, ...asking }: Looking & { waitingFor: string }): Promise<Seen> {
  enterPhase(run, wasEverInDoubt(run.facts) ? 'uncertain' : 'creating', waitingFor);
  return seenIn(run, await lookUp(run, { ...asking, alarm: true }));
}

/** Looks up an order that was recovered from the order list, for the first time. Checks the input. */
export async function lookUpRecovered(run: OrderRun): Promise<Seen> {
  enterPhase(run, 'uncertain', 'a look-up of the order, which the order list showed');
  const question = { summary: 'Recovered: what is its status?', alarm: true, checksInput: true };
  const request = () => ({ type: run.type, account: run.account, input: run.input, sentTo: run.sentTo });
  const reading = await askForReading<LookUpAnswer>(run, question, ({ lookUpRecovered: read }, more) =>
    read({ ...request(), ...more }),
  );
  return seenIn(run, reading);
}

/** Sorts a reading into our order, none, or a conflict. Every adoption passes this echo check. */
export function seenIn(asked: Pick<OrderRun, 'type' | 'request'>, reading: LookUpReading): Seen {
  switch (reading.kind) {
    case 'absent':
      return reading;
    case 'duplicates':
      return duplicateOrders(reading);
    case 'found': {
      const { order, differences, soft, aboveCap } = reading;
      return differences.length === 0
        ? { kind: 'ours', order, how: 'adopted', soft, aboveCap }
        : foreignOrder(asked, { order, differences, soft });
    }
  }
}

/** Returns the conflict for an order that the echo check refused. */
export function foreignOrder(
  { type, request }: Pick<OrderRun, 'type' | 'request'>,
  foreign: NonNullable<Conflict['foreign']>,
): Conflict {
  const { order, differences } = foreign;
  const shown = shownDifferences(type, request, order, differences);
  return {
    kind: 'conflict',
    reason: `order ${order.order_uuid} has our id but differs in ${shown}`,
    ours: [],
    candidates: [{ order_uuid: order.order_uuid, differences }],
    foreign,
    // Only our id has another form, and no later reading changes that.
    ...(differences.join() === 'order_id' && { askAtOnce: true }),
  };
}

/** Returns the conflict for several orders under our id, even if only one is like ours. */
export function duplicateOrders({ orderUuids, ours }: DuplicateOrders): Conflict {
  const like = ours.length > 0 ? `like this payment: ${ours.join(', ')}` : 'none is this payment';
  const reason = `the service shows several orders under our id: ${orderUuids.join(', ')} (${like})`;
  const shown = ours.length > 0 ? ours : orderUuids;
  const candidates = shown.slice(0, MAX_CANDIDATES).map((order_uuid) => ({ order_uuid }));
  return { kind: 'conflict', reason, ours, candidates };
}
