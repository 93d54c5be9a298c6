import type { Standing } from '../../client/standing.js';
import type { BatchOutcomes } from '../../contract/batch/batch.js';
import { type Amount, decimalOrZero, toAmount } from '../../contract/money.js';
import type { Order } from '../../contract/service-objects.js';

/** Also 'open', and 'unresolved': its run ended or is gone, and the order may exist. */
export type RowOutcome = keyof BatchOutcomes | 'open' | 'unresolved';

/** Returns the outcome of a row whose order stands so. */
export function outcomeOf(standing: Standing): Exclude<RowOutcome, 'notStarted'> {
  switch (standing.kind) {
    case 'completed':
      return standing.result.outcome;
    case 'open':
      return standing.waits === 'parked' ? 'parked' : 'open';
    case 'noOrder':
      return standing.failure === 'OrderConflict' ? 'conflict' : 'refused';
    case 'unresolved':
      // A person looked and closed it: nobody is to be asked once more, and another order has the id.
      return standing.how === 'closed' ? 'conflict' : 'unresolved';
    case 'notStarted':
    case 'unreadable':
      return 'unresolved';
  }
}

/** Why nobody knows what became of an order that counts as 'unresolved', in words. */
export function whyUnresolved(standing: Standing): string {
  switch (standing.kind) {
    case 'notStarted':
      return 'Temporal does not know its workflow any more';
    case 'unreadable':
      return `${standing.what === 'result' ? 'its result' : 'it'} cannot be read (${standing.why})`;
    case 'unresolved':
      if (standing.how !== 'failed') return 'its workflow was terminated';
      return `its workflow failed as ${standing.type ?? 'something else'}`;
    default:
      return 'it is known';
  }
}

/** Adds what an order paid out to the sum of its currency. */
export function addMoved(moved: Record<string, Amount>, { currency_to: currency, amount_to: paid }: Order): void {
  if (paid === null) return;
  moved[currency] = toAmount(decimalOrZero(moved[currency]).plus(decimalOrZero(paid)));
}
