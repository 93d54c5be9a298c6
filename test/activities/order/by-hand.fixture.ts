import type { Sandbox } from '../../../sandbox/index.js';
import type { CreateRequests } from '../../../src/contract/order/request.js';
import type { Order } from '../../../src/contract/service-objects.js';
import { createPaymentService } from '../../../src/payment-service/client.js';
import { loadSigner } from '../../../src/payment-service/signers.js';

/** Sends a payout straight to the service, as a run that is lost, or a person by hand, has sent it. */
export async function sendByHand(sandbox: Sandbox, order: CreateRequests['withdraw']): Promise<Order> {
  const { url: baseUrl, apiKey, apiSecret } = sandbox;
  const service = createPaymentService({ baseUrl, apiKey, apiSecret, sign: await loadSigner('hmac-sha256') });
  return service.createOrder('withdraw', order);
}
