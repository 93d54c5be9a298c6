import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { grpcStatus } from '../temporal.js';
import { askAccounts, capFindings, clockFindings, readFindings, sharedWalletFindings } from './account.js';
import { callbackFindings } from './callback.js';
import type { Asked, Finding, Target } from './findings.js';
import { orderAccountFindings } from './order-accounts.js';
import { attributeFindings, namespaceFindings, retentionFindings, serverFindings } from './temporal.js';
import { workerSettingsFindings } from './worker-settings.js';

/** The longest time that one check may take; all run at once. */
const CHECK_WITHIN_MS = 4_500;

/** Process that is checked: W the worker, R the receiver, A the API. */
export type Checked = 'W' | 'R' | 'A';

interface Check {
  name: string;
  by: string;
  /** The check that leaves this one nothing to look at if it finds something. */
  after?: string;
  ask?: (asked: Asked) => Promise<readonly Finding[]>;
  /** Instead of `ask`, where Temporal is asked. */
  askTemporal?: (client: Client, asked: Asked) => Promise<readonly Finding[]>;
}

/** Every check there is, each behind the one that it comes after. `doctor`, the starts and running workers go by this one table. */
const CHECKS: readonly Check[] = [
  { name: 'namespace', by: 'WRA', after: 'temporal', askTemporal: namespaceFindings },
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

/** Returns the checks that a process made, and those that it did not make, each with the one that has to pass first. */
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

/** Runs all checks of a process at once, in seconds; what cannot be checked is a warning. Never rejects. */
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
    // Other words could quote what was sent.
    return unchecked(status ? `Temporal answers with gRPC status ${status.code}` : `${(error as Error).name}`);
  });
  return Promise.race([found, sleep(CHECK_WITHIN_MS, late, { ref: false })]);
}

async function asked({ ask, askTemporal }: Check, target: Asked): Promise<readonly Finding[]> {
  const { client } = target;
  if (ask) return ask(target);
  if (!askTemporal || !client) return [];
  // A call that nobody waits for any more must not be repeated for ever.
  return client.withDeadline(Date.now() + CHECK_WITHIN_MS, () => askTemporal(client, target));
}
