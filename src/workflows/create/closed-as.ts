import { refusedText } from '../../contract/attention.js';
import { ORDER_UNRESOLVED } from '../../contract/failures.js';
import type { Closed } from '../order/end.js';
import { type OrderRun, orderIdOf, showsNone } from '../order/state.js';
import type { ClosingDoubt, End } from './next-action.js';

export const HIDES = 'the service does not show orders that it confirmed';
export const NONE_LATER =
  'the service shows no order that it accepted later, by which its answers would be known to be new';
export const CALLED_BACK = '; but a callback came for it: the service may have executed it';

/** Returns the end of a run without an order, in words. */
export function closedAs(run: OrderRun, end: End): Closed {
  const orderId = orderIdOf(run);
  switch (end.type) {
    case 'OrderCancelled': {
      if (end.refusedBy) return [end.type, refusedText(orderId, end.refusedBy, end.why ?? '')];
      if (end.why) return [end.type, `order ${orderId} was not sent: ${end.why}`];
      return [end.type, `order ${orderId} was cancelled before anything was sent`];
    }
    case 'OrderRejected':
      return rejected(run, end.answer);
    case 'OrderConflict': {
      const advice = 'Find out whose it is; if it is this payment, start it with its own input and --again';
      return [end.type, `${end.conflict.reason}. This run sent nothing. ${advice}`];
    }
    case 'closed': {
      if (!end.doubt) return ['OrderAbsent', `Order "${orderId}" was closed by ${end.by}: ${showsNone(run)}`];
      const doubt = doubtOf(run, end.doubt);
      if (!end.mayHaveSent) return ['OrderConflict', `${doubt}, and none is ours; closed as absent by ${end.by}`];
      return [ORDER_UNRESOLVED, `${doubt}; a create was sent, so it may be this payment; closed by ${end.by}`];
    }
  }
}

export function rejected(run: OrderRun, answer: string): Closed {
  const advice =
    'Check the fields against the rates, then start it again with --again: before it sends, it proves once more that there is none';
  const message = `the service refused the create of ${orderIdOf(run)} (${answer}), and ${showsNone(run)}. ${advice}`;
  return ['OrderRejected', message, { answer }];
}

function doubtOf(run: OrderRun, doubt: ClosingDoubt): string {
  const { found } = run.facts;
  switch (doubt) {
    case 'conflict':
      return found?.kind === 'conflict' ? found.reason : 'another order has its id';
    case 'place':
      return `${showsNone(run)}, but where it was sent to is not known`;
    case 'hidden':
      return HIDES;
    case 'callback':
      return `${showsNone(run)}${CALLED_BACK}`;
    case 'noLater':
      return `${showsNone(run)}, but ${NONE_LATER}`;
  }
}
