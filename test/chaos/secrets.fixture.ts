import { createHash, createHmac } from 'node:crypto';
import type { Secrets } from '../../chaos/environment.js';
import type { OrderObject, SandboxOrder } from '../../sandbox/index.js';

const made = (what: string): string => createHash('sha256').update(what).digest('base64url').slice(0, 32);

/** Secrets of a run that never was. */
export const SECRETS: Secrets = {
  apiKeys: [made('right'), made('other')],
  apiSecret: made('secret'),
  tokenKey: made('token'),
  payloadKey: createHash('sha256').update('payload').digest(),
  codecToken: made('codec'),
};

/** A signature that was sent. */
export const SIGNATURE = createHmac('sha256', SECRETS.apiSecret).update('{}').digest('hex');

/** An order of the service with all that the service itself adds of somebody. */
export const madeOrder = (orderId: string): SandboxOrder => ({
  order: {
    user_order_id: orderId,
    deposit_url: `https://pay.sandbox.example/${made('page')}`,
    deposit_address: `T${made('address')}`,
    wallet_from: `T${made('payer')}`,
    blockchain_deposit_hash: createHash('sha256').update('in').digest('hex'),
    blockchain_withdrawal_hash: createHash('sha256').update('out').digest('hex'),
  } as OrderObject,
  balance_changes: [],
  truth: { unexchanged: '0', unpaid: '0' },
});
