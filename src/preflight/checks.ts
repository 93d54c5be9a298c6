import type { Client } from '@temporalio/client';
import { grpcStatus } from '../temporal.js';
import { askAccounts, capFindings, clockFindings, readFindings, sharedWalletFindings } from './account.js';
import { callbackFindings } from './callback.js';
import type { Asked, Finding, Target } from './findings.js';
import { folderFindings } from './folders.js';
import { orderAccountFindings } from './order-accounts.js';
import { payloadKeyFindings } from './payload-keys.js';
import {
  attributeFindings,
  failoverFindings,
  namespaceFindings,
  retentionFindings,
  serverFindings,
} from './temporal.js';
import { workerSettingsFindings } from './worker-settings.js';

/** The longest time that one check may take; all run at once. */
export const CHECK_WITHIN_MS = 4_500;

/** Who is checked: W the worker, R the receiver. */
export type Checked = 'W' | 'R';

interface Check {
  name: string;
  by: string;
  /** Checks that leave this one nothing to look at where they find something. */
  after?: readonly string[];
  ask?: (asked: Asked) => Promise<readonly Finding[]>;
  /** Instead of `ask`, where Temporal is asked. */
  askTemporal?: (client: Client, asked: Asked) => Promise<readonly Finding[]>;
}

/** Every check there is. `doctor`, the starts and the timer of a running worker go by this one table. */
const CHECKS: readonly Check[] = [
  { name: 'namespace', by: 'WR', after: ['temporal'], askTemporal: namespaceFindings },
  { name: 'retention', by: 'W', after: ['namespace'], askTemporal: retentionFindings },
  { name: 'failover', by: 'W', after: ['namespace'], askTemporal: failoverFindings },
  { name: 'worker-settings', by: 'W', after: ['namespace'], askTemporal: workerSettingsFindings },
  { name: 'search-attributes', by: 'W', after: ['namespace'], askTemporal: attributeFindings },
  { name: 'server', by: 'W', after: ['temporal'], askTemporal: serverFindings },
  { name: 'payload-keys', by: 'WR', after: ['namespace'], askTemporal: payloadKeyFindings },
  { name: 'signed-read', by: 'W', ask: readFindings },
  { name: 'clock', by: 'W', after: ['signed-read'], ask: clockFindings },
  { name: 'caps', by: 'W', after: ['signed-read'], ask: capFindings },
  { name: 'shared-wallets', by: 'W', after: ['signed-read'], ask: sharedWalletFindings },
  { name: 'order-accounts', by: 'W', after: ['namespace'], askTemporal: orderAccountFindings },
  { name: 'callback', by: 'W', ask: callbackFindings },
  { name: 'folders', by: 'W', ask: folderFindings },
];

/** The names of a process' checks, in the order of the table. */
export const checkNames = (checked: Checked): readonly string[] =>
  CHECKS.filter(({ by }) => by.includes(checked)).map(({ name }) => name);

/** The checks of a process that found nothing because there was nothing to look at, each with the one that has to pass first. */
export function unmadeChecks(checked: Checked, findings: readonly Finding[]): ReadonlyMap<string, string> {
  const found = new Set(findings.map(({ check }) => check));
  const unmade = new Map<string, string>();
  for (const { name, by, after = [] } of CHECKS) {
    const first = after.find((other) => found.has(other) || unmade.has(other));
    if (by.includes(checked) && !found.has(name) && first !== undefined) unmade.set(name, first);
  }
  return unmade;
}

/** Runs all checks of a process at once, in seconds; what cannot be checked is a warning. Never rejects. */
export async function findingsOf(target: Target, checked: Checked): Promise<readonly Finding[]> {
  const made = CHECKS.filter(({ by, ask }) => by.includes(checked) && (ask || target.client));
  let shown: ReturnType<Asked['shown']> | undefined;
  const asked: Asked = {
    ...target,
    shown: () => {
      shown ??= askAccounts(target.accounts);
      return shown;
    },
  };
  return (await Promise.all(made.map((check) => within(check, asked)))).flat();
}

async function within(check: Check, target: Asked): Promise<readonly Finding[]> {
  const { name } = check;
  const unchecked = (why: string): Finding[] => [
    { check: name, level: 'warning', text: `${name} could not be checked: ${why}` },
  ];
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<Finding[]>((resolve) => {
    timer = setTimeout(() => resolve(unchecked(`no answer within ${CHECK_WITHIN_MS / 1_000} s`)), CHECK_WITHIN_MS);
  });
  const found = asked(check, target).catch((error: unknown) => {
    const status = grpcStatus(error);
    // Other words could quote what was sent.
    return unchecked(status ? `Temporal answers with gRPC status ${status.code}` : `${(error as Error).name}`);
  });
  return Promise.race([found, tooLate]).finally(() => clearTimeout(timer));
}

async function asked({ ask, askTemporal }: Check, target: Asked): Promise<readonly Finding[]> {
  const { client } = target;
  if (ask) return ask(target);
  if (!askTemporal || !client) return [];
  // A call that nobody waits for any more must not be repeated for ever.
  return client.withDeadline(Date.now() + CHECK_WITHIN_MS, () => askTemporal(client, target));
}
