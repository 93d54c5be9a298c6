import { isFormOfId } from '../contract/names.js';
import type { OrderListItem } from '../contract/service-objects.js';
import { allPages, type List, type Page, wholeList } from '../payment-service/paging.js';
import { MAX_ORDERS_PER_PAGE, type OrderListQuery } from '../payment-service/queries.js';
import { noReading } from './failures.js';

/** Maximum number of orders beyond one per id before the reading stops. */
const MOST_DUPLICATES = 50;

/**
 * Reads all orders under ids, uuids, or forms of ids that `isAsked` accepts. Throws NoReading if a
 * page shows another order: the service ignored the filter.
 */
export async function* ordersOfIds(
  ids: readonly string[],
  list: List<OrderListItem, OrderListQuery>,
  limit = MAX_ORDERS_PER_PAGE,
  isAsked?: (id: string) => boolean,
): AsyncGenerator<Page<OrderListItem>> {
  const asked = new Set(ids);
  let count = 0;
  for await (const page of allPages({ order_ids: [...asked], limit }, list)) {
    const items = page.items.filter(
      ({ user_order_id: id, order_uuid: uuid }) => asked.has(id) || asked.has(uuid) || isAsked?.(id),
    );
    yield { ...page, items };
    count += items.length;
    if (count > asked.size + MOST_DUPLICATES) throw noReading('the order list shows too many orders for these ids');
    if (items.length < page.items.length) {
      throw noReading('the order list shows orders of other ids: its filter was ignored');
    }
  }
}

/** Reads all orders under ids, uuids, or other forms of these ids, which are orders of their own. */
export const ordersOfForms = (ids: readonly string[], list: List<OrderListItem, OrderListQuery>) =>
  wholeList(ordersOfIds(ids, list, MAX_ORDERS_PER_PAGE, (id) => ids.some((asked) => isFormOfId(id, asked))));
