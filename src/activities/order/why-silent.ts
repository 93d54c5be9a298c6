import type { WhySilentAnswer, WhySilentInput } from '../../contract/order/activities.js';
import {
  NoAnswerError,
  NotSentError,
  PaymentServiceError,
  UnexpectedStatusError,
} from '../../payment-service/errors.js';
import { type Account, type ActivityDeps, accountOf } from '../deps.js';

/**
 * Says why look-ups got no clear answer for so long: what a workflow waits for tells only Temporal why it fails. One signed read of the
 * same kind, which proves nothing about the order.
 */
export function whySilentActivity(deps: ActivityDeps) {
  return async function whySilent(input: WhySilentInput): Promise<WhySilentAnswer> {
    try {
      await read(accountOf(deps, input.account), input);
      return { code: 'service-silent' };
    } catch (error) {
      if (!(error instanceof PaymentServiceError)) throw error;
      return { code: codeOf(error), said: error.message };
    }
  };
}

function read(account: Account, { orderId, orderUuid }: WhySilentInput): Promise<unknown> {
  if (orderUuid !== undefined) return account.service.orderStatus({ order_uuid: orderUuid });
  return orderId === undefined ? account.service.balances() : account.service.orderStatus({ order_id: orderId });
}

function codeOf(error: PaymentServiceError): WhySilentAnswer['code'] {
  if (error instanceof NotSentError || error instanceof NoAnswerError) return 'service-down';
  if (!(error instanceof UnexpectedStatusError)) return 'service-silent';
  if (error.status === 401 || error.status === 403) return 'key-refused';
  return error.status >= 500 ? 'service-down' : 'service-silent';
}
