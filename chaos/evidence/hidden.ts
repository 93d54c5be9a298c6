import type { SandboxOrder } from '../../sandbox/index.js';
import { callbackUrl } from '../../src/contract/callback-url.js';
import { DEFAULT_ACCOUNT } from '../../src/contract/names.js';
import { CANARY_KINDS, type CanaryKind, canary } from '../canaries.js';
import type { Secrets } from '../environment.js';
import type { Hidden } from './secrets.js';

/** What people and forgers say of orders while a run goes on; nothing of it is in an input. */
const SAID_LATER = new Set<string>([
  'who decided',
  'why it was decided',
  'a field of a forged callback',
] satisfies CanaryKind[]);

/** True for kinds of which a run may well have none. */
export const isSaidLater = (kind: string): boolean => SAID_LATER.has(kind);

/** What `order show` and `batch show` say to people. */
const SHOWN = new Set<string>([
  ...['a payment page', 'a deposit address', 'who started a batch', 'who approved a batch'],
  ...['who decided', 'why it was decided'],
  // With --json, numbers in the words masked.
  ...['words of a description', 'a deposit on a blockchain', 'a payout on a blockchain'],
]);

/** What the audit record says: who chose, and why. */
const AUDITED = new Set<string>(['who decided', 'why it was decided', 'who approved a batch'] satisfies CanaryKind[]);

/** Fields of the service's orders that are somebody's, and what they are. */
const OF_SERVICE = {
  deposit_url: 'a payment page',
  deposit_address: 'a deposit address',
  wallet_from: "a payer's wallet",
  blockchain_deposit_hash: 'a deposit on a blockchain',
  blockchain_withdrawal_hash: 'a payout on a blockchain',
} as const;

/** Secrets of the installation: no order, log or database has any use for one. */
export function credentials(secrets: Secrets, signatures: Iterable<string>, orderIds: Iterable<string>): Hidden[] {
  const { apiKeys, apiSecret, tokenKey, payloadKey, codecToken, events } = secrets;
  const values: [kind: string, value: string | Buffer, orderId?: string][] = [
    ...apiKeys.map((apiKey): [string, string] => ['an API key', apiKey]),
    ['the API secret', apiSecret],
    ['CALLBACK_TOKEN_KEY', tokenKey],
    ['the payload key', payloadKey],
    ['the payload key in base64', payloadKey.toString('base64')],
    ['CODEC_TOKEN', codecToken],
    ...(events === undefined ? [] : [['the secret of events', events] as [string, string]]),
    ...[...signatures].map((signature): [string, string] => ['a signature', signature]),
    ...[...orderIds].map((id): [string, string, string] => ['the token of a callback URL', tokenOf(tokenKey, id), id]),
  ];
  return values.map(([kind, value, orderId]) => ({ kind, value, orderId, sort: 'credential' }));
}

/** The proof at the end of an order's callback URL. */
function tokenOf(tokenKey: string, orderId: string): string {
  const url = callbackUrl('http://127.0.0.1', tokenKey, { kind: 'order', account: DEFAULT_ACCOUNT, orderId });
  return url.slice(url.lastIndexOf('.') + 1);
}

/** Whose canaries stand in what input: of an order, or of what people say of a batch. */
export interface Planted {
  orderId: string;
  input: unknown;
}

/** What the orders of a run carry of people: from their inputs, from decisions about them, and from the service. */
export function personalData(inputs: readonly Planted[], service: readonly SandboxOrder[]): Hidden[] {
  return [
    ...inputs.flatMap(({ orderId, input }) => planted(orderId, input)),
    ...service.flatMap(({ order }) =>
      Object.entries(OF_SERVICE).flatMap(([field, kind]): Hidden[] => {
        const value = order[field as keyof typeof OF_SERVICE];
        // The service masks cards itself.
        if (!value || value.includes('*')) return [];
        return [personal(kind, value, order.user_order_id)];
      }),
    ),
  ];
}

function planted(orderId: string, input: unknown): Hidden[] {
  const text = JSON.stringify(input);
  return CANARY_KINDS.flatMap((kind): Hidden[] => {
    const value = canary(kind, orderId);
    const isThere = isSaidLater(kind) || text.includes(JSON.stringify(value).slice(1, -1));
    return isThere ? [personal(kind, value, orderId)] : [];
  });
}

const personal = (kind: string, value: string, orderId: string): Hidden => ({
  ...{ kind, value, orderId, sort: 'personal', shown: SHOWN.has(kind), audited: AUDITED.has(kind) },
});
