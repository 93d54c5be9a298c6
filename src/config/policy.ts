import { z } from 'zod';
import { AMOUNT_FORMAT, MAX_AMOUNT_LENGTH } from '../contract/money.js';
import { ACCOUNT_FORMAT } from '../contract/names.js';
import { isAboutPayees, type PolicyRule, ruleName, WEEKDAYS } from '../contract/policy/rules.js';
import { CURRENCY_FORMAT } from '../validation/request-schemas.js';
import type { Approvers } from './approvers.js';
import type { Problems } from './env.js';
import { checkedBy, isPredictable, TOO_EASY, unique } from './formats.js';
import { IS_PUBLISHED, isPublished } from './published-keys.js';
import { Secret } from './secret.js';
import { parseJson, readSettingsFile } from './secret-files.js';

/** Rules of one account. `payeeKey`: of the hashes of payees; absent if no rule needs it. */
export interface Policy {
  rules: readonly PolicyRule[];
  payeeKey?: Secret;
}

const NAME = 'POLICY_FILE';
const MIN_KEY_LENGTH = 32;
const MIN_DIFFERENT_CHARACTERS = 12;

const payeeKey = checkedBy((text) => {
  if (text.length < MIN_KEY_LENGTH) return `must have at least ${MIN_KEY_LENGTH} characters (openssl rand -hex 32)`;
  if (isPublished(text)) return IS_PUBLISHED;
  return isPredictable(Buffer.from(text), MIN_DIFFERENT_CHARACTERS) ? TOO_EASY : undefined;
});

const currency = z.string().regex(CURRENCY_FORMAT, 'must be a currency in lower case');
const amount = z.string().regex(AMOUNT_FORMAT, 'must be a decimal string such as "2000"').max(MAX_AMOUNT_LENGTH);
const breach = z.enum(['park', 'refuse'], 'must be park or refuse');
const hash = z.string().regex(/^[0-9a-f]{64}$/, 'must be an HMAC-SHA256 in hex');
const time = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$|^24:00$/, 'must be a time from 00:00 to 24:00');

const open = z
  .strictObject({ days: z.array(z.enum(WEEKDAYS)).min(1), from: time, to: time })
  .refine(({ from, to }) => from < to, {
    message: 'must be later than from: a night needs two entries, to 24:00 and from 00:00',
    path: ['to'],
  });

const rule = z.discriminatedUnion('rule', [
  z.strictObject({
    rule: z.literal('sum'),
    per: z.enum(['day', '30 days']),
    currency,
    of: z.literal('payee').optional(),
    max: amount,
    breach,
  }),
  z.strictObject({ rule: z.literal('count'), max: z.int().min(1), breach }),
  z.strictObject({ rule: z.literal('payees'), allowed: z.array(hash).max(100_000), breach }),
  z.strictObject({ rule: z.literal('new-payee'), currency, above: amount, breach }),
  z.strictObject({ rule: z.literal('tier'), currency, above: amount, approvers: z.int().min(1).max(5) }),
  z.strictObject({ rule: z.literal('hours'), open: z.array(open).min(1), breach }),
  z.strictObject({
    rule: z.literal('paid-before'),
    days: z.int().min(1).max(30),
    breach: z.literal('warn').default('warn'),
  }),
]);

const policyFile = z.strictObject({
  payeeKey: payeeKey.optional(),
  accounts: z.record(z.string().regex(ACCOUNT_FORMAT), z.array(rule).min(1)),
});

/** Length of a payee's hash in bytes: 96 bits keep histories small. */
const HASH_BYTES = 12;

/** Returns the short form of a hash in which payees are compared. */
export const shortHash = (hex: string): string => Buffer.from(hex, 'hex').subarray(0, HASH_BYTES).toString('base64url');

const withShortHashes = (one: z.output<typeof rule>): PolicyRule =>
  one.rule === 'payees' ? { ...one, allowed: one.allowed.map(shortHash) } : (one as PolicyRule);

/** Reads the rules of each served account. Reports each mistake by its field. */
export function readPolicies(
  path: string,
  served: Iterable<string>,
  approvers: ReadonlyMap<string, Approvers> | undefined,
  problems: Problems,
): ReadonlyMap<string, Policy> | undefined {
  const refuse = (reason: string): void => problems.add(NAME, reason);
  const text = readSettingsFile(path, problems, { variable: NAME }, (content) => /"payeeKey"\s*:/.test(content));
  const content = parseJson(text, policyFile, refuse);
  if (!content) return undefined;
  const accounts = new Set(served);
  const policies = new Map<string, Policy>();
  for (const [name, given] of Object.entries(content.accounts)) {
    if (!accounts.has(name)) continue;
    const rules = given.map(withShortHashes);
    const { payeeKey: key } = content;
    if (!key && rules.some(isAboutPayees)) refuse(`payeeKey: is required, because a rule of ${name} is about payees`);
    if (!unique(rules.map(ruleName))) refuse(`accounts.${name}: states a rule twice`);
    const persons = Math.max(...rules.map((one) => (one.rule === 'tier' ? one.approvers : 1)));
    const able = new Set(
      [...(approvers?.get(name)?.values() ?? [])].filter(({ may }) => may.has('decide')).map(({ person }) => person),
    );
    if (persons > 1 && able.size < persons)
      refuse(
        `accounts.${name}: a tier needs ${persons} approvers, and APPROVERS_FILE lets ${able.size} persons decide`,
      );
    policies.set(name, { rules, ...(key && { payeeKey: new Secret(key) }) });
  }
  if (policies.size === 0) refuse(`accounts: names no account of this worker (${[...accounts].join(', ')})`);
  return policies;
}
