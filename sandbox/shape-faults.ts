import { type Answer, isObject, mapOrders } from './answer.js';
import { type Fault, ORDER_PLACES } from './fault-types.js';

/** Answers that say the right thing in another shape than the interface shows: a reader should understand them. */

type Item = Record<string, unknown>;

const shaped = (name: string, what: string, change: (order: Item) => Item): Fault => ({
  name,
  places: ORDER_PLACES,
  what: `answers 200 with ${what}`,
  timing: 'after',
  answer: (answer) => mapOrders(answer, change),
});

const isAmount = (key: string, value: unknown): value is string =>
  /amount/.test(key) && typeof value === 'string' && /^\d/.test(value);

/** Amounts of the order, of its balance changes and of its details: all with their sign. */
const signed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(signed);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [key, isAmount(key, field) ? `+${field}` : signed(field)]),
  );
};

const nullsAs = (order: Item, empty: unknown): Item =>
  Object.fromEntries(
    Object.entries(order).map(([key, value]) => {
      const nothing = value === null || (Array.isArray(value) && value.length === 0);
      return [key, nothing && key !== 'user_order_id' ? empty : value];
    }),
  );

const NULLABLE_DATES = { created_at: null, updated_at: null, finalized_at: null, start_order_at: null };

/** One with underscores; look-ups know an order by either. */
const underscored = (uuid: unknown): unknown => (typeof uuid === 'string' ? uuid.replaceAll('-', '_') : uuid);

/** The uuid as the sandbox itself writes it. */
export const ownUuid = (uuid: string): string => uuid.replaceAll('_', '-');

const SHAPED: readonly Fault[] = [
  shaped('signed-amounts', 'amounts like "+10.00"', (order) => signed(order) as Item),
  shaped('nulls-as-lists', '[] for everything that is null or empty', (order) => nullsAs(order, [])),
  shaped('nulls-as-objects', '{} for everything that is null or empty', (order) => nullsAs(order, {})),
  ...(
    [
      ['fee-exponent', 'amount_to_fee', '0E-8'],
      ['fee-comma', 'amount_to_fee', '0,17'],
      ['rate-object', 'exchange_rate_actual', { rate: '1' }],
      ['precision-text', 'currency_to_precision', 'two'],
      ['from-object', 'amount_from', {}],
      ['to-list', 'amount_to', []],
      ['to-comma', 'amount_to', '10,00'],
      ['changes-text', 'balance_changes', 'none'],
    ] as const
  ).map(([name, field, value]) =>
    shaped(name, `${JSON.stringify(value)} as ${field}`, (order) =>
      field in order ? { ...order, [field]: value } : order,
    ),
  ),
  shaped('null-dates', 'null for every date', (order) => ({ ...order, ...NULLABLE_DATES })),
  shaped('texts-for-integers', 'precisions and error code as text', (order) => ({
    ...order,
    error_code: String(order.error_code),
    currency_from_precision: String(order.currency_from_precision),
    currency_to_precision: String(order.currency_to_precision),
  })),
  shaped('numbers-for-flags', '1 and 0 for true and false', (order) => ({
    ...order,
    strict_withdrawal_amount: order.strict_withdrawal_amount ? 1 : 0,
  })),
  shaped('unnamed-as-null', "null for a user_order_id that is ''", (order) => ({
    ...order,
    user_order_id: order.user_order_id || null,
  })),
  shaped('uuid-underscores', 'an order_uuid with _ for -', (order) => ({
    ...order,
    order_uuid: underscored(order.order_uuid),
  })),
];

/** Changes the `data` of a success answer that is an object of objects, one per currency or, by type, per pair. */
function mapData(answer: Answer, change: (entries: Item) => Item): Answer {
  const { body } = answer;
  return isObject(body) && isObject(body.data) ? { ...answer, body: { ...body, data: change(body.data) } } : answer;
}

/** What no reader can take for an amount, in rates and in balances. */
const BROKEN = { min_amount_from: 'n/a', amount: 'n/a' };

const isEntry = (value: unknown): value is Item => isObject(value) && ('order_type' in value || 'wallet_uuid' in value);

/** Breaks every n-th entry of balances or, type by type, of rates. */
const breakEvery =
  (n: number) =>
  (entries: Item): Item =>
    Object.fromEntries(
      Object.entries(entries).map(([key, value], index) => {
        if (isEntry(value)) return [key, (index + 1) % n === 0 ? { ...value, ...BROKEN } : value];
        return [key, isObject(value) ? breakEvery(n)(value) : value];
      }),
    );

const malformed = (name: string, what: string, n: number): Fault => ({
  name,
  places: ['rates', 'balances'],
  what: `answers 200 with ${what}`,
  timing: 'after',
  answer: (answer) => mapData(answer, breakEvery(n)),
});

const byType = (change: (pairs: Item) => Item) => (types: Item) =>
  Object.fromEntries(Object.entries(types).map(([type, pairs]) => [type, isObject(pairs) ? change(pairs) : pairs]));

const MANY_PAIRS = 4_500;

const manyPairs = (pairs: Item): Item => {
  const [entry] = Object.values(pairs);
  const more = Array.from({ length: MANY_PAIRS / 6 }, (_, n) => [`coin${n}_chain${n}`, entry]);
  return { ...pairs, ...Object.fromEntries(more) };
};

/** Shapes of orders, of rates and of balances. */
export const SHAPE_FAULTS: readonly Fault[] = [
  ...SHAPED,
  malformed('some-malformed', 'every second entry one that cannot be read', 2),
  malformed('all-malformed', 'nothing but entries that cannot be read', 1),
  {
    name: 'many-pairs',
    places: ['rates'],
    what: `answers 200 with ${MANY_PAIRS} more pairs, above 2 MB`,
    timing: 'after',
    answer: (answer) => mapData(answer, byType(manyPairs)),
  },
];
