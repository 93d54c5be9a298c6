import type { OrderListItem } from '../../src/contract/service-objects.js';
import { type List, type Page, PageSizes } from '../../src/payment-service/paging.js';
import type { OrderListQuery } from '../../src/payment-service/queries.js';

/** The order list behind a function that answers its pages. */
export function orderListOf(
  ask: (query: OrderListQuery) => Page<OrderListItem> | Promise<Page<OrderListItem>>,
): List<OrderListItem, OrderListQuery> {
  const sizes = new PageSizes();
  const page = async (query: OrderListQuery) => {
    const answer = await ask(query);
    sizes.record(answer.total);
    return answer;
  };
  return { page, idOf: ({ order_uuid: uuid }) => uuid, sizes };
}
