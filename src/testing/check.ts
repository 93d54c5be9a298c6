import { amountsOf, shownAs, unchecked } from '../activities/order/check-findings.js';
import type { OrderAttention } from '../contract/attention.js';
import type { FieldError } from '../contract/failures.js';
import type { OrderFindings } from '../contract/order/check.js';
import type { OrderInput } from '../contract/order/input-and-result.js';
import type { OrderType } from '../contract/order/types.js';
import type { Order } from '../contract/service-objects.js';
import { badFields, lateness, type Terms } from './before-send.js';
import type { TestEnding } from './endings.js';

/** Fields of an ending without an order. */
type Refusal = { fields?: FieldError[]; parked?: OrderAttention; reason?: string };

/** Order to check, and what the test set. */
interface TestCheck {
  type: OrderType;
  input: OrderInput;
  /** The service's order with this id. */
  order: Order | undefined;
  ending: TestEnding;
  terms: Terms;
}

/** Returns what a worker finds about an order: it refuses and parks what the test's ending does. */
export function findingsOf({ type, input, order, ending, terms }: TestCheck): OrderFindings {
  const { order: request, whenShort } = input;
  const [bad, late] = [badFields(type, input, terms), lateness(input)];
  const atService = shownAs({ type, request }, order);
  const amounts = amountsOf({ type, request, terms: { balances: undefined, ...terms } });
  const warnings = whenShort ? [] : (amounts.leaves ?? []).flatMap(unchecked);
  const { fields = [], parked, reason }: Refusal = Object(ending);
  const code = atService.state === 'conflict' ? 'conflict' : order ? undefined : parked;
  const asks = (code === 'conflict' || code === 'over-cap') && code;
  return {
    fields: bad.length > 0 ? bad : fields,
    ...amounts,
    ...(asks && { wouldPark: { code: asks, reason: atService.reason ?? reason ?? 'the test says so' } }),
    ...(late && { notNow: late }),
    ...(warnings.length > 0 && { warnings }),
    atService,
  };
}
