import { shownDifferences } from '../../contract/differences/echo.js';
import type { DuplicateOrders, LookUpAnswer, LookUpReading } from '../../contract/order/activities.js';
import { askForReading, type Looking, lookUp } from '../ask/ask.js';
import { enterPhase } from '../order/show.js';
import type { OrderRun } from '../order/state.js';
import { wasEverInDoubt } from './facts.js';
import type { Conflict, Seen } from './seen.js';

/** Candidates shown to an operator; the reason names all of them. */
const MAX_CANDIDATES = 3;

/** Looks the order up once and returns what the service shows. */
export async function look(run: OrderRun, waitingFor: string, asking: Looking): Promise<Seen> {
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
