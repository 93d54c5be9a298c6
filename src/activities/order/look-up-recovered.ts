import type { ElsewhereAnswer, LookUpAnswer } from '../../contract/order/answers.js';
import type { LookUpRecoveredInput } from '../../contract/order/followers.js';
import { validateRecoveredInput } from '../../validation/order-schema.js';
import type { ActivityDeps } from '../deps.js';
import { invalidOrder } from '../failures.js';
import { lookUpOrderActivity } from './look-up-order.js';

/** The first look-up of a run that was rebuilt from the order list; checks its input. Fails with InvalidOrder alone. */
export function lookUpRecoveredActivity(deps: ActivityDeps) {
  const lookUpOrder = lookUpOrderActivity(deps);
  return async function lookUpRecovered({
    type,
    account,
    input,
    ...asked
  }: LookUpRecoveredInput): Promise<LookUpAnswer | ElsewhereAnswer> {
    const checked = validateRecoveredInput(type, input);
    if ('errors' in checked) throw invalidOrder(checked.errors);
    const { order: request, recovered } = checked.input;
    return lookUpOrder({ ...asked, type, account, request, ...(recovered && { orderUuid: recovered.order_uuid }) });
  };
}
