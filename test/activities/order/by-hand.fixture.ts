import type { Sandbox } from '../../../sandbox/index.js';
import type { CreateRequests } from '../../../src/contract/order/request.js';
import type { Order } from '../../../src/contract/service-objects.js';
import { createPaymentService } from '../../../src/payment-service/client.js';
import { loadSigner } from '../../../src/payment-service/signers.js';
import type { Transport } from '../../../src/payment-service/transport.js';

/** Sends a payout straight to the service, as a run that is lost, or a person by hand, has sent it. */
export async function sendByHand(
  sandbox: Sandbox & { transport?: Transport },
  order: CreateRequests['withdraw'],
): Promise<Order> {
  const { url: baseUrl, apiKey, apiSecret, transport } = sandbox;
  const sign = await loadSigner('hmac-sha256');
  const service = createPaymentService({ baseUrl, apiKey, apiSecret, sign, ...(transport && { transport }) });
  return service.createOrder('withdraw', order);
}
