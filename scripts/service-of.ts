import type { Sandbox } from '../sandbox/index.js';
import { createPaymentService, type PaymentService } from '../src/payment-service/client.js';
import { loadSigner } from '../src/payment-service/signers.js';
import type { Transport } from '../src/payment-service/transport.js';

/** How a sandbox without sockets is reached. */
interface ByTransport {
  transport?: Transport;
}

/** A sandbox as another program of its merchant sees it: signed calls that pass our workflows by. */
export async function serviceOf(
  { url: baseUrl, apiKey, apiSecret, transport }: Pick<Sandbox, 'url' | 'apiKey' | 'apiSecret'> & ByTransport,
  options: { requestTimeoutMs?: number } = {},
): Promise<PaymentService> {
  const sign = await loadSigner('hmac-sha256');
  return createPaymentService({ baseUrl, apiKey, apiSecret, sign, transport, ...options });
}
