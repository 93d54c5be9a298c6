import type { WhySilentAnswer, WhySilentInput } from '../../contract/order/activities.js';
import {
  NoAnswerError,
  NotSentError,
  PaymentServiceError,
  refusesKey,
  UnexpectedStatusError,
} from '../../payment-service/errors.js';
import { NO_TURN } from '../../payment-service/limiter.js';
import { type Account, type ActivityDeps, accountOf } from '../deps.js';
import { turnInWorker } from './turn.js';

/**
 * Says why look-ups got no clear answer for so long: what a workflow waits for tells only Temporal why it fails. One signed read of the
 * same kind, which proves nothing about the order.
 */
export function whySilentActivity(deps: ActivityDeps) {
  return async function whySilent(input: WhySilentInput): Promise<WhySilentAnswer> {
    const account = accountOf(deps, input.account);
    try {
      await read(account, input);
      return { code: 'service-silent' };
    } catch (error) {
      if (!(error instanceof PaymentServiceError)) throw error;
      if (error instanceof NotSentError && error.reason === NO_TURN) {
        return { code: 'service-silent', turn: turnInWorker(account.limiter) };
      }
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
  if (refusesKey(error)) return 'key-refused';
  return error instanceof UnexpectedStatusError && error.status >= 500 ? 'service-down' : 'service-silent';
}
