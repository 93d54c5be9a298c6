import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { grpcStatus } from '../temporal.js';
import { askAccounts, capFindings, clockFindings, readFindings, sharedWalletFindings } from './account.js';
import type { Asked, Finding, Target } from './findings.js';
import { orderAccountFindings } from './order-accounts.js';
import {
  attributeFindings,
  namespaceFindings,
  retentionFindings,
  serverFindings,
  workerSettingsFindings,
} from './temporal.js';

/** Maximum time of one check. All run at once. */
const CHECK_WITHIN_MS = 4_500;

/** Checked process: W worker, R receiver. */
export type Checked = 'W' | 'R';

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
  { name: 'namespace', by: 'WR', after: 'temporal', askTemporal: namespaceFindings },
  { name: 'retention', by: 'W', after: 'namespace', askTemporal: retentionFindings },
  { name: 'worker-settings', by: 'W', after: 'namespace', askTemporal: workerSettingsFindings },
  { name: 'search-attributes', by: 'W', after: 'namespace', askTemporal: attributeFindings },
  { name: 'server', by: 'W', after: 'temporal', askTemporal: serverFindings },
  { name: 'signed-read', by: 'W', ask: readFindings },
  { name: 'clock', by: 'W', after: 'signed-read', ask: clockFindings },
  { name: 'caps', by: 'W', after: 'signed-read', ask: capFindings },
  { name: 'shared-wallets', by: 'W', after: 'signed-read', ask: sharedWalletFindings },
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

const ANSWER_WITHIN_MS = 4_000;

/** Finds a callback URL without an answer. It is no error, because orders are polled, too. */
async function callbackFindings({ config: { callback } }: Target): Promise<readonly Finding[]> {
  if (!callback) return [];
  const why = await whyNot(`${callback.baseUrl}/healthz`);
  if (why === undefined) return [];
  const text = `CALLBACK_BASE_URL cannot be reached from here (${why}): orders are polled, which takes longer. Is the receiver running behind it?`;
  return [{ check: 'callback', level: 'warning', text }];
}

/** Accepts any answer but a proxy's for a missing server. */
async function whyNot(url: string): Promise<string | undefined> {
  try {
    const { status } = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
    return status >= 500 ? `HTTP ${status}` : undefined;
  } catch (error) {
    const { name, cause } = error as { name: string; cause?: { code?: unknown } };
    return typeof cause?.code === 'string' ? cause.code : name;
  }
}
