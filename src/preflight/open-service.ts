import { createHmac } from 'node:crypto';
import { withoutTrailingSlash } from '../config/addresses.js';
import { type AccountConfig, ConfigError } from '../config.js';
import { createPaymentService, type PaymentService, type PaymentServiceOptions } from '../payment-service/client.js';
import type { RouteOptions } from '../payment-service/connection.js';
import { loadSigner, type Signer } from '../payment-service/signers.js';

/** What orders of an account are pinned to beside its wallets: see contract/order/sent-to.ts. */
export interface Pin {
  /** Origin and path of the base URL. */
  endpoint: string;
  /** Keyed fingerprint of the API key. */
  keyFingerprint: string;
}

/** The client of an account as its settings say; throws ConfigError when its signer cannot be loaded. */
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

/** What orders are pinned to. The fingerprint is keyed: a key that can be guessed cannot be found by it. */
export function pinOfConfig(config: AccountConfig): Pin {
  const { baseUrl, apiKey, apiSecret } = config;
  const { origin, pathname } = new URL(baseUrl);
  const keyed = createHmac('sha256', apiSecret.reveal()).update(`payment-orders api key\0${apiKey.reveal()}`);
  return { endpoint: withoutTrailingSlash(origin + pathname), keyFingerprint: keyed.digest('hex').slice(0, 16) };
}
