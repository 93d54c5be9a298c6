import type { Answer } from './answer.js';
import type { Marker } from './markers.js';

/** Operations about orders at which faults can be injected. */
export const ORDER_PLACES = ['create', 'status', 'list'] as const;
/** A place whose requests are about orders. */
export type OrderPlace = (typeof ORDER_PLACES)[number];
/** All places; `address` is both address operations. */
export const PLACES = [...ORDER_PLACES, 'rates', 'balances', 'address', 'address-create', 'address-list'] as const;
/** A place of faults. */
export type Place = (typeof PLACES)[number];

/** When a faulty create is executed: not at all, before the answer, or some time after it. */
export const TIMINGS = ['before', 'after', 'later'] as const;
/** A timing: `before` = the fault comes before executing, so nothing is executed. */
export type Timing = (typeof TIMINGS)[number];

/** One entry of the catalogue. */
export interface Fault {
  name: string;
  places: readonly Place[];
  what: string;
  /** Of creates, unless the name is used with -before, -after or -later. */
  timing: Timing;
  /** Changes the answer that would have been given. */
  answer?: (answer: Answer, marker: Marker) => Answer;
  /** Changes one item of a list: that of the marked order, by rate the one at `malformedIndex`. */
  item?: (item: Record<string, unknown>) => unknown;
  /** Look-ups: true when the n-th (from 1) must not see the order. */
  hides?: (n: number) => boolean;
  /** Lists: true when the order_ids filter is ignored. */
  ignoresFilter?: boolean;
  /** Creates: taken twice, as when something between client and service repeats the request. */
  twice?: boolean;
  /** Met when only the headers have arrived: nothing is read, nothing executed. By rate only. */
  unread?: boolean;
  /** Markers without `status_times` or `list_times` apply to every look-up instead of the first. */
  lasts?: boolean;
}

/** A fault as chosen for one request. */
export interface ChosenFault {
  /** As it was asked for, such as `500-after`. */
  name: string;
  fault: Fault;
  timing: Timing;
}
