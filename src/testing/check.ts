import { amountsOf, shownAs, unchecked } from '../activities/order/check-findings.js';
import type { OrderAttention } from '../contract/attention.js';
import type { FieldError } from '../contract/failures.js';
import type { OrderFindings } from '../contract/order/check.js';
import type { CreateRequest } from '../contract/order/request.js';
import type { OrderType } from '../contract/order/types.js';
import type { Balances, Order, Rates } from '../contract/service-objects.js';
import type { TestEnding } from './endings.js';

/** Fields of an ending without an order. */
type Refusal = { fields?: FieldError[]; parked?: OrderAttention; reason?: string };

/** Order to check, and what the test set. Without rates, it shows no amounts. */
interface TestCheck {
  type: OrderType;
  request: CreateRequest;
  /** The service's order with this id. */
  order: Order | undefined;
  ending: TestEnding;
  rates: Rates | undefined;
  balances: Balances | undefined;
}

/** Returns what a worker finds about an order: it refuses and parks what the test's ending does. */
export function findingsOf({ type, request, order, ending, rates, balances }: TestCheck): OrderFindings {
  const atService = shownAs({ type, request }, order);
  const amounts = amountsOf({ type, request, terms: { rates, balances } });
  const warnings = (amounts.leaves ?? []).flatMap(unchecked);
  const { fields = [], parked, reason }: Refusal = Object(ending);
  const code = atService.state === 'conflict' ? 'conflict' : order ? undefined : parked;
  const asks = (code === 'conflict' || code === 'over-cap') && code;
  return {
    fields,
    ...amounts,
    ...(asks && { wouldPark: { code: asks, reason: atService.reason ?? reason ?? 'the test says so' } }),
    ...(warnings.length > 0 && { warnings }),
    atService,
  };
}
