import { pinOfConfig } from '../config/accounts.js';
import { ConfigError, loadWorkerConfig, type WorkerConfig } from '../config.js';
import { connectTemporal, TemporalUnreachableError, temporalTarget } from '../temporal.js';
import { findingsOf, outcomesOf } from './checks.js';
import type { Finding, Target } from './findings.js';
import { openService } from './open-service.js';
import { START_WITHIN } from './start.js';

/**
 * Result of `doctor`: checks made, and findings. `notChecked`: each with the check it depends on.
 */
export interface Diagnosis {
  checks: readonly string[];
  notChecked: Readonly<Record<string, string>>;
  findings: readonly Finding[];
  /** Account ids that orders are pinned to; absent if the settings are invalid. */
  accounts?: Readonly<Record<string, string>>;
  /** Effective settings that are not secret; absent if they are invalid. */
  settings?: Readonly<Record<string, string>>;
}

/** Checks a worker's environment without starting a worker. */
export async function doctor(): Promise<Diagnosis> {
  try {
    const config = loadWorkerConfig();
    temporalTarget();
    const opened = [...config.accounts.values()].map(async (account) => {
      const service = await openService(account);
      return [account.name, { service, ...pinOfConfig(account) }] as const;
    });
    const accounts = new Map(await Promise.all(opened));
    const findings = await examined(config, accounts);
    const { checks, notChecked } = outcomesOf('W', findings);
    const ids = Object.fromEntries([...accounts].map(([name, { id }]) => [name, id]));
    return { checks: ['settings', 'temporal', ...checks], notChecked, findings, accounts: ids, settings: config.shown };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const findings = error.problems.map(
      (text): Finding => ({ check: 'settings', level: 'error', text, refuses: true }),
    );
    return { checks: ['settings'], notChecked: {}, findings };
  }
}

async function examined(config: WorkerConfig, accounts: Target['accounts']): Promise<readonly Finding[]> {
  const connected = await connectTemporal(config, START_WITHIN).catch((error: unknown) => {
    if (error instanceof TemporalUnreachableError) return error;
    throw error;
  });
  if (connected instanceof TemporalUnreachableError) {
    const unreachable: Finding = { check: 'temporal', level: 'error', text: connected.message, refuses: true };
    return [unreachable, ...(await findingsOf({ config, accounts }, 'W'))];
  }
  try {
    return await findingsOf({ client: connected.client, config, accounts }, 'W');
  } finally {
    await connected.close();
  }
}
