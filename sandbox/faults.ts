import { randomUUID } from 'node:crypto';
import { type Answer, mapOrders, refusal } from './answer.js';
import { type Marker, markerNumber } from './markers.js';

/** Operations about orders at which faults can be injected. */
export const ORDER_PLACES = ['create', 'status', 'list'] as const;
/** A place whose requests are about orders; markers work here. */
export type OrderPlace = (typeof ORDER_PLACES)[number];
/** All places; `address` is both address operations. */
export const PLACES = [...ORDER_PLACES, 'rates', 'balances', 'address'] as const;
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
  /** Look-ups: true when the n-th (from 1) must not see the order. */
  hides?: (n: number) => boolean;
  /** Lists: true when the order_ids filter is ignored. */
  ignoresFilter?: boolean;
  /** Markers without `status_times` or `list_times` apply to every look-up instead of the first. */
  lasts?: boolean;
}

const everywhere = PLACES;
const lookups: readonly Place[] = ['status', 'list'];
const orders: readonly Place[] = ORDER_PLACES;

const httpError = (status: number, timing: Timing): Fault => ({
  name: String(status),
  places: everywhere,
  what: `answers ${status}`,
  timing,
  answer: () => refusal(status, 'injected by the sandbox'),
});

const tooMany = (name: string, what: string, retryAfter: (marker: Marker) => string): Fault => ({
  name,
  places: everywhere,
  what: `answers 429 with Retry-After ${what}`,
  timing: 'before',
  answer: (_, marker) => ({ ...refusal(429, 'too many requests'), headers: { 'retry-after': retryAfter(marker) } }),
});

const redirect = (status: number): Fault => ({
  name: String(status),
  places: everywhere,
  what: `answers ${status} to /redirected, whose hits are counted`,
  timing: 'before',
  answer: () => ({ status, body: '', headers: { location: '/redirected' } }),
});

const delivered = (delivery: NonNullable<Answer['delivery']>, name: string, what: string): Fault => ({
  name,
  places: everywhere,
  what,
  timing: 'after',
  answer: (answer) => ({ ...answer, delivery }),
});

const HTML =
  '<!doctype html><html><head><title>Sign in</title></head><body>Please sign in to the network.</body></html>';

function without(order: Record<string, unknown>, field: string): Record<string, unknown> {
  const { [field]: _, ...rest } = order;
  return rest;
}

/** Every fault the sandbox knows. A new one is one more entry. */
export const FAULTS: readonly Fault[] = [
  ...[500, 502, 503, 504].map((status) => httpError(status, 'after')),
  ...[400, 401, 403, 404, 405, 409, 410, 413, 422].map((status) => httpError(status, 'before')),
  ...[301, 302, 303, 307, 308].map(redirect),
  tooMany('429', 'in seconds (marker retry_after, default 1)', (marker) => marker.retry_after ?? '1'),
  tooMany('429-date', 'as a date 2 s ahead', () => new Date(Date.now() + 2000).toUTCString()),
  tooMany('429-garbage', 'that is no number', () => 'soon'),
  tooMany('429-huge', 'of 10 days', () => '864000'),
  delivered('none', 'no-answer', 'takes the request and never answers'),
  delivered('reset', 'reset', 'resets the connection instead of answering'),
  delivered('truncated', 'truncated', 'answers 200 and closes in the middle of the JSON'),
  delivered('oversized', 'oversized', 'answers 200 with 40 MiB'),
  delivered('drip', 'drip', 'answers 200 one byte a second'),
  {
    name: 'slow',
    places: everywhere,
    what: 'answers correctly after slow_ms (default 2000), so that a callback can come first',
    timing: 'after',
    answer: (answer, marker) => ({ ...answer, delayMs: markerNumber(marker, 'slow_ms') ?? 2000 }),
  },
  {
    name: 'html',
    places: everywhere,
    what: 'answers 200 with a web page',
    timing: 'after',
    answer: () => ({ status: 200, body: HTML, headers: { 'content-type': 'text/html' } }),
  },
  {
    name: 'status-error',
    places: everywhere,
    what: 'answers 200 {status: "error"}',
    timing: 'after',
    answer: () => ({ status: 200, body: { status: 'error' } }),
  },
  {
    name: 'crossed',
    places: orders,
    what: 'answers 200 with an order of another id',
    timing: 'after',
    answer: (answer) =>
      mapOrders(answer, (order) => ({ ...order, order_uuid: randomUUID(), user_order_id: 'crossed-order' })),
  },
  {
    name: 'missing-field',
    places: orders,
    what: 'answers 200 without the field named by marker field (default order_uuid)',
    timing: 'after',
    answer: (answer, marker) => mapOrders(answer, (order) => without(order, marker.field ?? 'order_uuid')),
  },
  {
    name: 'extra-fields',
    places: orders,
    what: 'answers 200 with fields the interface does not know',
    timing: 'after',
    answer: (answer) => mapOrders(answer, (order) => ({ ...order, risk_score: 7, labels: { source: ['new'] } })),
  },
  {
    name: 'unknown-status',
    places: orders,
    what: 'answers 200 with order status "on_hold"',
    timing: 'after',
    answer: (answer) => mapOrders(answer, (order) => ({ ...order, status: 'on_hold' })),
  },
  { name: 'unseen', places: lookups, what: 'does not see the order', timing: 'before', hides: () => true, lasts: true },
  {
    name: 'alternating',
    places: lookups,
    what: 'sees the order at every other look-up only, beginning with the first',
    timing: 'before',
    hides: (n) => n % 2 === 0,
    lasts: true,
  },
  {
    name: 'ignore-filter',
    places: ['list'],
    what: 'ignores order_id and order_ids',
    timing: 'before',
    ignoresFilter: true,
    lasts: true,
  },
];

/** A fault as chosen for one request. */
export interface ChosenFault {
  /** As it was asked for, such as `500-after`. */
  name: string;
  fault: Fault;
  timing: Timing;
}

/** The answer as the chosen fault leaves it; unchanged without one. */
export function withFault(plain: Answer, chosen: ChosenFault | undefined, marker: Marker): Answer {
  if (!chosen) return plain;
  return { ...(chosen.fault.answer?.(plain, marker) ?? plain), fault: chosen.name };
}

/** Reads `<fault>` or, for creates, `<fault>-before|-after|-later`; undefined when a place knows no such fault. */
export function parseFault(place: Place, name: string): ChosenFault | undefined {
  const known = (wanted: string) => FAULTS.find((fault) => fault.name === wanted && fault.places.includes(place));
  const whole = known(name);
  if (whole) return { name, fault: whole, timing: whole.timing };
  if (place !== 'create') return undefined;
  const timing = TIMINGS.find((candidate) => name.endsWith(`-${candidate}`));
  const fault = timing && known(name.slice(0, -timing.length - 1));
  return fault && { name, fault, timing };
}
