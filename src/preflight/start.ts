import { ConfigError } from '../config.js';
import { type Checked, findingsOf } from './checks.js';
import { type Finding, type Level, nameOf, type Target } from './findings.js';

/** Maximum connection time at start, within 10 s for all checks. */
export const START_WITHIN = '4s';

/** Logs a finding. */
export type Tell = (level: Level, text: string, about: { check: string; account?: string }) => void;

function tellAll(findings: readonly Finding[], tell: Tell): void {
  for (const { check, level, account, text } of findings) tell(level, text, { check, ...(account && { account }) });
}

/** Checks a start. Throws ConfigError if no process can work, and logs other findings. */
export async function checkStart(target: Target, checked: Checked, tell: Tell): Promise<readonly Finding[]> {
  const findings = await findingsOf(target, checked);
  const refused = findings.filter(({ refuses }) => refuses).map(({ text }) => text);
  if (refused.length > 0) throw new ConfigError(refused);
  tellAll(findings, tell);
  return findings;
}

/** Interval of checks: a key may be withdrawn, or a search attribute removed. */
const CHECK_EVERY_MS = 5 * 60_000;

const keyOf = (finding: Finding): string => `${finding.level} ${nameOf(finding)}`;

/** Repeats the checks until `stop`, and at once after `soon`. Logs new and resolved findings. */
export function keepChecking(
  first: readonly Finding[],
  check: () => Promise<readonly Finding[]>,
  tell: Tell,
  everyMs = CHECK_EVERY_MS,
) {
  let findings = first;
  const once = async (): Promise<void> => {
    const before = findings;
    findings = await check();
    const [known, now] = [before, findings].map((some) => some.map(keyOf)) as [string[], string[]];
    tellAll(
      findings.filter((finding) => !known.includes(keyOf(finding))),
      tell,
    );
    for (const gone of before.filter((finding) => finding.level !== 'note' && !now.includes(keyOf(finding))))
      tell('note', `${gone.level} no more: ${nameOf(gone)}`, { check: gone.check });
  };
  // One at a time, because each reports what has changed.
  let checks = Promise.resolve();
  const soon = (): void => {
    checks = checks.then(once);
  };
  const timer = setInterval(soon, everyMs).unref();
  return { findings: () => findings, soon, stop: () => clearInterval(timer) };
}
