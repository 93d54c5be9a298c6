import { ORDER_UNRESOLVED } from '../../contract/failures.js';
import { isFollowUp } from '../identity.js';
import type { ParkQuestion } from '../order/decision.js';
import type { Closed } from '../order/end.js';
import { type OrderRun, showsNone } from '../order/state.js';
import { type Absence, type Facts, isPlaceUnknown, wasEverInDoubt } from './facts.js';
import type { ClosingDoubt, End, Question } from './next-action.js';
import { isFollowable } from './seen.js';

const HIDES = 'the service does not show orders that it confirmed';
const NONE_LATER = 'the service shows no order that it accepted later, by which its answers would be known to be new';
const CONTINUES =
  'This order continues by itself once it shows one whose id is as long and has the same kinds of characters';
const CALLED_BACK = '; but a callback came for it: the service may have executed it';

/** Returns a question in words. */
export function askedAbout(run: OrderRun, about: Question): ParkQuestion {
  switch (about.kind) {
    case 'conflict': {
      const { reason, ours, candidates } = about.conflict;
      if (!isFollowable(about.conflict)) return { code: 'conflict', reason, allowed: ['close-absent'] };
      return { code: 'conflict', reason, allowed: ours.length > 0 ? ['adopt'] : ['adopt', 'close-absent'], candidates };
    }
    case 'uncertain': {
      const waits = about.waitsFor ? `; ${NONE_LATER}. ${CONTINUES}` : '';
      const reason = `${uncertainty(run, about.absence)}${waits}`;
      const send: ParkQuestion['allowed'] = run.facts.late === 'over' ? [] : ['resend'];
      return { code: 'uncertain-create', reason, allowed: [...send, 'close-absent', 'adopt'] };
    }
    case 'hidden': {
      const reason = `${about.doubt.said}; ${HIDES}, so nothing that it does not show is absent`;
      // Who confirmed the account may also say that nothing was executed there.
      const said: ParkQuestion['allowed'] = about.doubt.place === 'confirmed' ? ['resend'] : [];
      return { code: 'uncertain-create', reason, allowed: [...said, 'close-absent', 'adopt'] };
    }
    case 'missing': {
      const orderUuid = run.input.recovered?.order_uuid ?? '';
      const reason = `the order list showed order ${orderUuid}, and now ${showsNone(run)}`;
      const candidates = [{ order_uuid: orderUuid }];
      return { code: 'order-missing', reason, allowed: ['adopt', 'close-absent'], candidates };
    }
    case 'late': {
      const reason = `nothing was sent: ${TIME_HAS_PASSED}`;
      return { code: 'not-sent', reason, allowed: ['resend', 'close-absent'] };
    }
    case 'notSent': {
      const what = wasEverInDoubt(run.facts) ? 'not sent again' : 'nothing was sent';
      return { code: 'not-sent', reason: `${what}: ${about.why}`, allowed: ['resend', 'close-absent'] };
    }
    case 'overCap':
      return { code: 'over-cap', reason: about.why, allowed: ['approve', 'refuse'], toApprove: about.toApprove };
  }
}

const TIME_HAS_PASSED = 'the time that it was to start at has passed';
const OVER = 'its latest send time is over, so nothing is sent any more';

/** Returns everything that speaks against another send. */
function uncertainty(run: OrderRun, { doubt, control }: Absence): string {
  const { callback, cancelled: isCancelled, late, everDoubted, refused } = run.facts;
  return [
    `${doubt.said}, and ${showsNone(run)}`,
    callback === 'none' ? '' : CALLED_BACK,
    isCancelled ? '; it was cancelled' : '',
    late === undefined ? '' : `; ${late === 'over' ? OVER : TIME_HAS_PASSED}`,
    !isPlaceUnknown(run.facts) ? '' : refused ? EARLIER_PLACE_UNKNOWN : PLACE_UNKNOWN,
    isFollowUp(run) && everDoubted.some(({ cause }) => cause === 'reset')
      ? '; another follow-up may have been sent in its place since'
      : '',
    refused && !control.later ? `; ${NONE_LATER}` : '',
  ].join('');
}

const PLACE_UNKNOWN = '; where its create went is not known: make sure that this is the account';
const EARLIER_PLACE_UNKNOWN =
  '; where an earlier create went is not known: look for it at every account that it may have gone to';

/** Returns why a closed order may exist. */
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

/** Returns the end of a run without an order, in words. */
export function closedAs(run: OrderRun, end: End): Closed {
  const { orderId } = run;
  switch (end.type) {
    case 'OrderCancelled': {
      if (end.refusedBy) return [end.type, `order ${orderId} was refused by ${end.refusedBy}: ${end.why}`];
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

/** Returns the end of a run whose create the service refused. */
export function rejected(run: OrderRun, answer: string): Closed {
  const advice =
    'Check the fields against the rates, then start it again with --again: before it sends, it proves once more that there is none';
  const message = `the service refused the create of ${run.orderId} (${answer}), and ${showsNone(run)}. ${advice}`;
  return ['OrderRejected', message, { answer }];
}

/** Returns true if callers may learn of a refusal now. The run stays open and corrects itself. */
export function isRefusalReported({ refused, found, callback, everDoubted, proof }: Facts, readings: number): boolean {
  const isPlain = refused !== undefined && !refused.repeated && found === undefined && everDoubted.length === 1;
  return isPlain && callback === 'none' && (proof === undefined || proof.readings >= readings);
}
