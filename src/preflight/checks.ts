import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Balances } from '../contract/service-objects.js';
import { NotSentError, PaymentServiceError, RateLimitedError, refusesKey } from '../payment-service/errors.js';
import { grpcStatus } from '../temporal.js';
import { checkAgainstRates } from '../validation/rate-checks.js';
import type { Asked, AskedAccount, Finding, Shown, Target } from './findings.js';
import { orderAccountFindings } from './order-accounts.js';
import {
  attributeFindings,
  namespaceFindings,
  retentionFindings,
  serverFindings,
  stopFindings,
  workerSettingsFindings,
} from './temporal.js';

/** Maximum time of one check. All run at once. */
const CHECK_WITHIN_MS = 4_500;

/** Checked process: W worker, R receiver, A API. */
export type Checked = 'W' | 'R' | 'A';

interface Check {
  name: string;
  by: string;
  /** Check that must pass before this one. */
  after?: string;
  ask?: (asked: Asked) => Promise<readonly Finding[]>;
  /** Replaces `ask` for checks of Temporal. */
  askTemporal?: (client: Client, asked: Asked) => Promise<readonly Finding[]>;
}

/** Table of all checks, in order of dependence. `doctor`, starts and running workers use it. */
const CHECKS: readonly Check[] = [
  { name: 'namespace', by: 'WRA', after: 'temporal', askTemporal: namespaceFindings },
  { name: 'retention', by: 'W', after: 'namespace', askTemporal: retentionFindings },
  { name: 'worker-settings', by: 'W', after: 'namespace', askTemporal: workerSettingsFindings },
  { name: 'search-attributes', by: 'W', after: 'namespace', askTemporal: attributeFindings },
  { name: 'server', by: 'W', after: 'temporal', askTemporal: serverFindings },
  { name: 'stops', by: 'W', after: 'namespace', askTemporal: stopFindings },
  { name: 'signed-read', by: 'W', ask: readFindings },
  { name: 'clock', by: 'W', after: 'signed-read', ask: clockFindings },
  { name: 'caps', by: 'W', after: 'signed-read', ask: capFindings },
  { name: 'shared-wallets', by: 'W', after: 'signed-read', ask: sharedWalletFindings },
  { name: 'canary', by: 'W', after: 'signed-read', ask: canaryFindings },
  { name: 'order-accounts', by: 'W', after: 'namespace', askTemporal: orderAccountFindings },
  { name: 'callback', by: 'W', ask: callbackFindings },
];

/** Returns the checks that a process made, and the skipped ones with the check they depend on. */
export function outcomesOf(checked: Checked, findings: readonly Finding[]) {
  const found = new Set(findings.map(({ check }) => check));
  const checks: string[] = [];
  const notChecked: Record<string, string> = {};
  for (const { name, by, after = '' } of CHECKS) {
    if (!by.includes(checked)) continue;
    if (!found.has(name) && (found.has(after) || after in notChecked)) notChecked[name] = after;
    else checks.push(name);
  }
  return { checks, notChecked };
}

/** Runs all checks of a process at once; one that cannot run is a warning. Never rejects. */
export async function findingsOf(target: Target, checked: Checked): Promise<readonly Finding[]> {
  const made = CHECKS.filter(({ by, ask }) => by.includes(checked) && (ask || target.client));
  const shown = askAccounts(checked === 'W' ? target.accounts : undefined);
  return (await Promise.all(made.map((check) => within(check, { ...target, shown })))).flat();
}

async function within(check: Check, target: Asked): Promise<readonly Finding[]> {
  const { name } = check;
  const unchecked = (why: string): Finding[] => [
    { check: name, level: 'warning', text: `${name} could not be checked: ${why}` },
  ];
  const late = unchecked(`no answer within ${CHECK_WITHIN_MS / 1_000} s`);
  const found = asked(check, target).catch((error: unknown) => {
    const status = grpcStatus(error);
    // Other messages could quote what was sent.
    return unchecked(status ? `Temporal answers with gRPC status ${status.code}` : `${(error as Error).name}`);
  });
  return Promise.race([found, sleep(CHECK_WITHIN_MS, late, { ref: false })]);
}

async function asked({ ask, askTemporal }: Check, target: Asked): Promise<readonly Finding[]> {
  const { client } = target;
  if (ask) return ask(target);
  if (!askTemporal || !client) return [];
  // Bounds the retries of a call that no one waits for.
  return client.withDeadline(Date.now() + CHECK_WITHIN_MS, () => askTemporal(client, target));
}

const CALLBACK_WITHIN_MS = 4_000;

/** Warns if the callback URL does not answer: no error, because orders are also polled. */
async function callbackFindings({ config: { callback } }: Target): Promise<readonly Finding[]> {
  if (!callback) return [];
  const why = await whyNot(`${callback.baseUrl}/healthz`);
  if (why === undefined) return [];
  const text = `CALLBACK_BASE_URL cannot be reached from here (${why}): orders are polled, which takes longer. Is the receiver running behind it?`;
  return [{ check: 'callback', level: 'warning', text }];
}

/** Accepts any answer except 5xx, a proxy's error. */
async function whyNot(url: string): Promise<string | undefined> {
  try {
    const { status } = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(CALLBACK_WITHIN_MS) });
    return status >= 500 ? `HTTP ${status}` : undefined;
  } catch (error) {
    const { name, cause } = error as { name: string; cause?: { code?: unknown } };
    return typeof cause?.code === 'string' ? cause.code : name;
  }
}

/** Maximum wait for the service, below the time of a check, so that the reason is shown. */
const ANSWER_WITHIN_MS = 3_500;
/** Maximum wait, including the turn at the account's limit. */
const READ_WITHIN_MS = 4_000;

/** Larger clock differences are not caused by the network. */
const MOST_SKEW_MS = 60_000;

/**
 * Reads each account's balances once, which tests URL, key, signature, clock and wallets. Never
 * rejects.
 */
async function askAccounts(accounts: Target['accounts'] = new Map()): Promise<ReadonlyMap<string, Shown>> {
  const shown = [...accounts].map(async ([name, account]) => [name, await askedOnce(account)] as const);
  return new Map(await Promise.all(shown));
}

async function askedOnce({ service }: AskedAccount): Promise<Shown> {
  const fromMs = Date.now();
  let skewMs: number | undefined;
  const onDate = (date: string | undefined): void => {
    // Compares the middle of the service's second with the middle of our request.
    const theirs = Date.parse(date ?? '') + 500;
    if (!Number.isNaN(theirs)) skewMs = theirs - (fromMs + Date.now()) / 2;
  };
  const signal = AbortSignal.timeout(READ_WITHIN_MS);
  const answer = await service.balances({ timeoutMs: ANSWER_WITHIN_MS, signal, onDate }).then(
    (balances) => ({ balances }),
    (error: unknown) => ({ error }),
  );
  return { ...answer, ...(skewMs !== undefined && { skewMs }) };
}

const balancesOf = (shown: ReadonlyMap<string, Shown>): [account: string, balances: Balances][] =>
  [...shown].flatMap(([name, { balances }]) => (balances ? [[name, balances]] : []));

/** Finds accounts that do not answer signed reads. */
async function readFindings({ shown }: Asked): Promise<readonly Finding[]> {
  return [...(await shown)].flatMap(([account, { error }]) => {
    if (error === undefined) return [];
    const [level, why] = wordsOf(error);
    return [{ check: 'signed-read', level, account, text: `account ${account}: ${why}` }];
  });
}

/** Finds services whose clock differs. */
async function clockFindings({ shown }: Asked): Promise<readonly Finding[]> {
  return [...(await shown)].flatMap(([account, { skewMs = 0 }]) => {
    if (Math.abs(skewMs) <= MOST_SKEW_MS) return [];
    const [seconds, way] = [Math.round(Math.abs(skewMs) / 1_000), skewMs > 0 ? 'behind' : 'ahead of'];
    const text = `account ${account}: this machine's clock is ${seconds} s ${way} the service's. Set it by NTP, or tell the service's operators: dates of batches, reconciliations and signatures go by it`;
    return [{ check: 'clock', level: 'error', account, text }];
  });
}

/** Finds misspelt currencies of limits, which leave the intended currency without a limit. */
export async function capFindings({ config: { caps, policies }, shown }: Asked): Promise<readonly Finding[]> {
  const accounts = await shown;
  const read = balancesOf(accounts);
  if (read.length < accounts.size) return [];
  const known = new Set(read.flatMap(([, balances]) => Object.keys(balances)));
  const rules = [...(policies?.values() ?? [])].flatMap((policy) => policy.rules);
  const named = {
    PAYMENT_ORDER_CAPS: [...(caps?.keys() ?? [])],
    POLICY_FILE: rules.flatMap((rule) => ('currency' in rule ? rule.currency : [])),
  };
  return Object.entries(named).flatMap(([variable, currencies]): Finding[] => {
    const unknown = [...new Set(currencies)].filter((currency) => !known.has(currency));
    if (unknown.length === 0) return [];
    const text = `${variable} names ${unknown.join(', ')}, which no account has among its balances. If that is misspelt, the currency that was meant has no limit: correct it`;
    return [{ check: 'caps', level: 'warning', text }];
  });
}

/** Finds canaries that the service would refuse, and says what no canary proves. */
async function canaryFindings({ accounts = new Map(), config }: Asked): Promise<readonly Finding[]> {
  const found = [...accounts].map(async ([account, { service }]): Promise<Finding[]> => {
    const canary = config.accounts?.get(account)?.canary;
    if (!canary) return [];
    const { countsFor, ...deposit } = canary;
    const about = { check: 'canary', account };
    const counts = `account ${account}: deposits count as later orders for ${countsFor.join(', ')}. At a service that shows deposits before payouts, that pays twice: name a type in countsFor only if the service confirms that its list shows both alike`;
    const notes: Finding[] = countsFor.length > 0 ? [{ ...about, level: 'note', text: counts }] : [];
    const rates = await service.rates({ timeoutMs: ANSWER_WITHIN_MS }).catch(() => undefined);
    const [error] = rates ? checkAgainstRates('deposit', { order_id: 'canary', ...deposit }, rates) : [];
    if (!error) return notes;
    const field = error.field.replace('order.', 'canary.');
    const text = `account ${account}: ${field}: ${error.reason}. The service would refuse it, so orders in doubt wait for a person: correct it`;
    return [...notes, { ...about, level: 'warning', text }];
  });
  return (await Promise.all(found)).flat();
}

/** Finds two keys of one account: the same order id under both names would be paid twice. */
async function sharedWalletFindings({ shown }: Asked): Promise<readonly Finding[]> {
  const owners = new Map<string, string[]>();
  for (const [name, balances] of balancesOf(await shown))
    for (const wallet of new Set(Object.values(balances).flatMap(({ wallet_uuid: wallet }) => wallet || [])))
      owners.set(wallet, [...(owners.get(wallet) ?? []), name]);
  const shared = new Set([...owners.values()].filter(({ length }) => length > 1).map((names) => names.join(' and ')));
  return [...shared].map((names) => {
    const text = `PAYMENT_ACCOUNTS_FILE: ${names} show the same wallets, so that they are one account at the service: an order id used under both is paid twice. Keep one of the names, the one that open orders have, and put the key of the other account right or leave it out`;
    return { check: 'shared-wallets', level: 'error', text, refuses: true };
  });
}

const WAITS = 'Its orders wait until then, and none is lost: never start one again under another id';

function wordsOf(error: unknown): ['error' | 'note', string] {
  if (error instanceof RateLimitedError) return ['note', 'not checked, since the service asks to slow down (HTTP 429)'];
  if (error instanceof NotSentError && (error.reason === 'aborted' || error.reason.startsWith('the limit')))
    return ['note', 'not checked: its limit left no turn'];
  if (refusesKey(error))
    return [
      'error',
      `the service refuses what is signed (HTTP ${error.status}). First compare its API key and secret with those that the service gave out; if they are right, its signer is not the service's algorithm. ${WAITS}`,
    ];
  if (!(error instanceof PaymentServiceError)) return ['error', `cannot be asked (${(error as Error).name})`];
  const check = 'Check its base URL, proxy and certificates, and ask those who run the service';
  return ['error', `${error.message}. ${check}. ${WAITS}`];
}
