import { type AccountConfig, ConfigError } from '../config.js';
import { createPaymentService, type PaymentService } from '../payment-service/client.js';
import type { RouteOptions } from '../payment-service/connection.js';
import type { Limiter } from '../payment-service/limiter.js';
import { loadSigner, type Signer } from '../payment-service/signers.js';

/** The client of an account as its settings say; throws ConfigError when its signer cannot be loaded. */
export async function openService(config: AccountConfig, limiter?: Limiter): Promise<PaymentService> {
  return createPaymentService({
    account: config.name,
    baseUrl: config.baseUrl,
    apiKey: config.apiKey.reveal(),
    apiSecret: config.apiSecret.reveal(),
    sign: await signerOf(config),
    ...(limiter && { limiter }),
    ...routeOf(config),
  });
}

function routeOf({ caCertificates, clientCertificate, proxy }: AccountConfig): RouteOptions {
  const credentials = proxy?.credentials?.reveal();
  return {
    caCertificates,
    ...(clientCertificate && { clientCertificate: { ...clientCertificate, key: clientCertificate.key.reveal() } }),
    ...(proxy && { proxy: { ...proxy, credentials } }),
  };
}

async function signerOf({ name, signer }: AccountConfig): Promise<Signer> {
  try {
    return await loadSigner(signer);
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'cannot be loaded';
    throw new ConfigError([`PAYMENT_SIGNER of account ${name}: ${reason}`]);
  }
}
