import { randomUUID } from 'node:crypto';
import { type Answer, mapOrders, refusal } from './answer.js';
import { ECHO_FAULTS } from './echo-faults.js';
import { type ChosenFault, type Fault, ORDER_PLACES, PLACES, type Place, TIMINGS, type Timing } from './fault-types.js';
import { type Marker, markerNumber } from './markers.js';
import { SHAPE_FAULTS } from './shape-faults.js';

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

type Change = (order: Record<string, unknown>, marker: Marker) => Record<string, unknown>;

/** A 200 whose orders are not what they should be. */
const changed = (name: string, what: string, change: Change): Fault => ({
  name,
  places: orders,
  what: `answers 200 with ${what}`,
  timing: 'after',
  answer: (answer, marker) => mapOrders(answer, (order) => change(order, marker)),
});

/** Balances whose `amount` is the given text in every currency. */
const balancesOf = (name: string, amount: string): Fault => ({
  name,
  places: ['balances'],
  what: `answers 200 with amount "${amount}" in every currency`,
  timing: 'after',
  answer: (answer) => {
    const { data } = answer.body as { data: Record<string, object> };
    const entries = Object.entries(data).map(([currency, entry]) => [currency, { ...entry, amount }]);
    return { ...answer, body: { status: 'success', data: Object.fromEntries(entries) } };
  },
});

const HTML =
  '<!doctype html><html><head><title>Sign in</title></head><body>Please sign in to the network.</body></html>';

function without(order: Record<string, unknown>, field: string): Record<string, unknown> {
  const { [field]: _, ...rest } = order;
  return rest;
}

const isAmount = (value: unknown): value is string => typeof value === 'string' && /^\d+\.\d+$|^[1-9]\d*$/.test(value);

/** Every amount written in another way; dates and codes are no amounts. */
const withAmounts = (order: Record<string, unknown>, write: (amount: string) => unknown): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(order).map(([key, value]) => [key, /amount/.test(key) && isAmount(value) ? write(value) : value]),
  );

const nullsAs = (order: Record<string, unknown>, text: unknown): Record<string, unknown> =>
  Object.fromEntries(Object.entries(order).map(([key, value]) => [key, value === null ? text : value]));

/** An item that no reader can take for an order or an address. */
const malform = (item: Record<string, unknown>): Record<string, unknown> =>
  'order_uuid' in item ? { ...item, order_uuid: null, status: 7 } : { ...item, uuid: null, address: 7 };

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
  delivered('cut', 'cut', 'answers 200 with the right content-length and resets the connection half-way'),
  delivered('oversized', 'oversized', 'answers 200 with 40 MiB'),
  delivered('endless', 'endless', 'answers 200 with chunks that never end'),
  delivered('gzip-bomb', 'gzip-bomb', 'answers 200 with 64 KiB of gzip that unpack to 64 MiB'),
  delivered('drip', 'drip', 'answers 200 one byte a second'),
  {
    name: 'reset-unread',
    places: everywhere,
    what: 'resets the connection when the headers are in, before the body is read',
    timing: 'before',
    unread: true,
  },
  {
    name: 'twice',
    places: ['create', 'address-create'],
    what: 'takes the create twice, as if a proxy had repeated it, and answers the second time',
    timing: 'after',
    twice: true,
  },
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
    name: 'status-unknown',
    places: everywhere,
    what: 'answers 200 with the right data under status "accepted"',
    timing: 'after',
    answer: (answer) => ({ ...answer, body: { ...(answer.body as object), status: 'accepted' } }),
  },
  changed('crossed', 'an order of another id', (order) => ({
    ...order,
    order_uuid: randomUUID(),
    user_order_id: 'crossed-order',
  })),
  changed('other-type', 'our id on an order of another type', (order) => ({
    ...order,
    order_type: order.order_type === 'deposit' ? 'withdraw' : 'deposit',
  })),
  changed('other-amount', 'our id on an order of larger amounts', (order) =>
    withAmounts(order, (amount) => `1${amount}`),
  ),
  changed('other-wallet', 'our id on an order to another wallet', (order) => ({ ...order, wallet_to: 'other-wallet' })),
  ...ECHO_FAULTS.map(({ name, what, change }) => changed(name, what, change)),
  changed('missing-field', 'the field named by marker field (default order_uuid) missing', (order, marker) =>
    without(order, marker.field ?? 'order_uuid'),
  ),
  changed('null-field', 'the field named by marker field (default order_uuid) null', (order, marker) => ({
    ...order,
    [marker.field ?? 'order_uuid']: null,
  })),
  changed('nulls-as-text', 'empty text for every null', (order) => nullsAs(order, '')),
  changed('amounts-as-numbers', 'amounts as JSON numbers', (order) => withAmounts(order, Number)),
  changed('amounts-with-commas', 'amounts like "1,000.00"', (order) => withAmounts(order, (amount) => `1,${amount}`)),
  changed('extra-fields', 'fields the interface does not know', (order) => ({
    ...order,
    risk_score: 7,
    labels: { source: ['new'] },
  })),
  changed('unknown-status', 'order status "on_hold"', (order) => ({ ...order, status: 'on_hold' })),
  changed('unknown-type', 'order type "swap"', (order) => ({ ...order, order_type: 'swap' })),
  changed('error-code-text', 'error_code as text', (order) => ({ ...order, error_code: String(order.error_code) })),
  ...SHAPE_FAULTS,
  balancesOf('negative', '-5'),
  balancesOf('not-a-number', 'NaN'),
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
  {
    name: 'malformed',
    places: ['list', 'address-list'],
    what: 'answers with one item that cannot be read; the request log says at which index',
    timing: 'after',
    item: malform,
    lasts: true,
  },
];

/** Places whose faults come before, after or instead of executing something. */
const CREATING: readonly Place[] = ['create', 'address', 'address-create'];

/** Reads `<fault>` or, for creates, `<fault>-before|-after|-later`; undefined when a place knows no such fault. */
export function parseFault(place: Place, name: string): ChosenFault | undefined {
  const known = (wanted: string) => FAULTS.find((fault) => fault.name === wanted && fault.places.includes(place));
  const whole = known(name);
  if (whole) return { name, fault: whole, timing: whole.timing };
  if (!CREATING.includes(place)) return undefined;
  const timing = TIMINGS.find((candidate) => name.endsWith(`-${candidate}`));
  const fault = timing && known(name.slice(0, -timing.length - 1));
  return fault && { name, fault, timing };
}
