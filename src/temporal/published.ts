import { createHash } from 'node:crypto';
import { z } from 'zod';
import { pinOfConfig } from '../config/accounts.js';
import type { Approvers, Policy, WorkerConfig } from '../config.js';
import { AMOUNT_FORMAT, MAX_AMOUNT_LENGTH } from '../contract/money.js';

/* Workers publish their protective settings in the identity that polls the create queue. */

/** Maximum clock difference of two machines, in ms. */
const MOST_AHEAD_MS = 10 * 60_000;

const duration = z
  .number()
  .int()
  .min(0)
  .max(366 * 86_400_000);

/** Anybody can publish, so a value can only make a worker stricter. Fields are read one by one. */
const published = z.object({
  /** Digest of the service's account, by which an order finds out who took its create. */
  account: z.string().optional().catch(undefined),
  /** Settle windows of payouts and of deposit types, and the confirm delay, in ms. */
  windows: z.tuple([duration, duration, duration]).catch([0, 0, 0]),
  /** By currency. */
  caps: z.record(z.string(), z.string().regex(AMOUNT_FORMAT).max(MAX_AMOUNT_LENGTH)).optional().catch(undefined),
  /** Digest of the approvers; absent = unsigned decisions count. */
  approvers: z.string().optional().catch(undefined),
  /** Digest of the rules and the key of payees; absent = none. */
  policy: z.string().optional().catch(undefined),
  notExecuted: z.array(z.number().int()).optional().catch(undefined),
  audit: z.literal(true).optional().catch(undefined),
  /** Digest of the account's canary. */
  canary: z.string().optional().catch(undefined),
  restoredAtMs: z
    .number()
    .refine((ms) => ms <= Date.now() + MOST_AHEAD_MS)
    .optional()
    .catch(undefined),
});

/** Protective settings of a worker. All workers of an account should agree. */
export type Protections = z.infer<typeof published>;

/** Variables of each field. Keys may differ while they are rotated. */
const VARIABLES: Record<Exclude<keyof Protections, 'account'>, string> = {
  windows: 'ORDER_SETTLE_WINDOW or ORDER_CONFIRM_DELAY',
  caps: 'PAYMENT_ORDER_CAPS',
  approvers: 'APPROVERS_FILE',
  policy: 'POLICY_FILE',
  notExecuted: 'PAYMENT_NOT_EXECUTED_STATUSES',
  audit: 'AUDIT_DIR',
  canary: 'canary of PAYMENT_ACCOUNTS_FILE',
  restoredAtMs: 'TEMPORAL_RESTORED_AT',
};

/** Returns the variables in which others differ from this worker. */
export const differingVariables = (own: Protections, others: readonly Protections[]): string[] =>
  Object.entries(VARIABLES).flatMap(([name, variables]) => {
    const shown = (one: Protections) => JSON.stringify(one[name as keyof Protections]);
    return others.some((other) => shown(other) !== shown(own)) ? variables : [];
  });

function digestOf(approvers: Approvers): string {
  return digestOfJson([...approvers].map(([keyId, { person, may }]) => [keyId, person, [...may].sort()]).sort());
}

/** Returns 8 characters that differ for other values. */
export const digestOfJson = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 8);

const policyDigests = new WeakMap<Policy, string>();

/** Returns the digest by which workers compare their policies. A long list is read only once. */
export function policyDigest(policy: Policy): string {
  const digest = policyDigests.get(policy) ?? digestOfJson([policy.rules, policy.payeeKey?.reveal()]);
  policyDigests.set(policy, digest);
  return digest;
}

/** Returns what a worker with this configuration publishes about an account. */
export function publishedFor(config: Pick<WorkerConfig, 'pace'> & Partial<WorkerConfig>, account: string): Protections {
  const { pace, caps, approvers, auditDir, restoredAtMs } = config;
  const { settleWindowMs, confirmDelayMs } = pace;
  const own = approvers?.get(account);
  const policy = config.policies?.get(account);
  const used = config.accounts?.get(account);
  const { notExecutedStatuses: statuses = [], canary } = used ?? {};
  return {
    ...(used && { account: digestOfJson(pinOfConfig(used).id) }),
    windows: [settleWindowMs.atOnce, settleWindowMs.deposit, confirmDelayMs],
    ...(caps && { caps: Object.fromEntries([...caps].sort()) }),
    ...(own && { approvers: digestOf(own) }),
    ...(policy && { policy: policyDigest(policy) }),
    ...(statuses.length > 0 && { notExecuted: [...statuses].sort() }),
    ...(auditDir && { audit: true }),
    ...(canary && { canary: digestOfJson(canary) }),
    ...(restoredAtMs !== undefined && { restoredAtMs }),
  };
}

/** Returns the identity that publishes them. */
export const publishingIdentity = (identity: string, protections: Protections): string =>
  `${identity} ${JSON.stringify(protections)}`;

/** Returns what an identity publishes; undefined for an older version or another program. */
export function publishedBy(identity: string): Protections | undefined {
  const text = identity.slice(identity.indexOf(' ') + 1);
  try {
    return published.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
