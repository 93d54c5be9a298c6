import { type AccountConfig, ConfigError } from '../config.js';
import { createPaymentService, type PaymentService, type PaymentServiceOptions } from '../payment-service/client.js';
import type { RouteOptions } from '../payment-service/connection.js';
import { loadSigner, type Signer } from '../payment-service/signers.js';

/** Returns the client of an account. Throws ConfigError if its signer cannot be loaded. */
export async function openService(
  config: AccountConfig,
  shared: Pick<PaymentServiceOptions, 'limiter' | 'onSmallPage' | 'transport'> = {},
): Promise<PaymentService> {
  return createPaymentService({
    account: config.name,
    baseUrl: config.baseUrl,
    apiKey: config.apiKey.reveal(),
    apiSecret: config.apiSecret.reveal(),
    sign: await signerOf(config),
    ...shared,
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
