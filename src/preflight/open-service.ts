import { createHmac } from 'node:crypto';
import { withoutTrailingSlash } from '../config/formats.js';
import { type AccountConfig, ConfigError } from '../config.js';
import { accountId, type UsedAccount } from '../contract/order/sent-to.js';
import { createPaymentService, type PaymentService, type PaymentServiceOptions } from '../payment-service/client.js';
import type { RouteOptions } from '../payment-service/connection.js';
import { loadSigner, type Signer } from '../payment-service/signers.js';

/** Returns the client of an account. Throws ConfigError if its signer cannot be loaded. */
export async function openService(
  config: AccountConfig,
  shared: Pick<PaymentServiceOptions, 'limiter' | 'onSmallPage'> = {},
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

/**
 * Returns the id that orders are pinned to. The fingerprint is keyed, so it cannot confirm a
 * guessed key.
 */
export function pinOfConfig(config: AccountConfig): UsedAccount {
  const { name, baseUrl, apiKey, apiSecret, apiKeyPredecessors: predecessors } = config;
  const { origin, pathname } = new URL(baseUrl);
  const keyed = createHmac('sha256', apiSecret.reveal()).update(`payment-orders api key\0${apiKey.reveal()}`);
  const id = accountId(withoutTrailingSlash(origin + pathname), keyed.digest('hex').slice(0, 16));
  return { name, id, ...(predecessors && { predecessors }) };
}
