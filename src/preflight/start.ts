import { ConfigError } from '../config.js';
import { type Checked, findingsOf } from './checks.js';
import type { Finding, Level, Target } from './findings.js';

/** The longest time for a connection to Temporal, of what may take 10 s until it is told. */
export const START_WITHIN = '4s';

/** Says a finding in a process' log. */
export type Tell = (level: Level, text: string, about: { check: string; account?: string }) => void;

/** Tells findings, each with its name. */
export function tellAll(findings: readonly Finding[], tell: Tell): void {
  for (const { check, level, account, text } of findings) tell(level, text, { check, ...(account && { account }) });
}

/**
 * The checks of a start. Throws ConfigError with all that no process can work with; what else is found is told, since one account's
 * key, or one key of old, must not keep a process from serving all others.
 */
export async function checkStart(target: Target, checked: Checked, tell: Tell): Promise<readonly Finding[]> {
  const findings = await findingsOf(target, checked);
  const refused = findings.filter(({ refuses }) => refuses).map(({ text }) => text);
  if (refused.length > 0) throw new ConfigError(refused);
  tellAll(findings, tell);
  return findings;
}
