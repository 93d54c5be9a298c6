import { type Finding, nameOf } from './findings.js';
import { type Tell, tellAll } from './start.js';

/** What was right at the start may not stay so: a key is taken back, somebody removes a search attribute. */
const CHECK_EVERY_MS = 60 * 60_000;
/** While something is to be mended: whoever mends it wants to see that. */
const CHECK_SOON_MS = 5 * 60_000;

/** How a running process is checked. `first`: what its start found. */
export interface KeepChecking {
  first: readonly Finding[];
  check: () => Promise<readonly Finding[]>;
  tell: Tell;
  everyMs?: number;
  soonMs?: number;
}

/** What a running process knows of itself. */
export interface Checking {
  /** As of the last check. */
  findings: () => readonly Finding[];
  /** Repeats the checks now. */
  soon: () => void;
  stop: () => void;
}

const isOpen = ({ level }: Finding): boolean => level !== 'note';
const keyOf = (finding: Finding): string => `${finding.level} ${nameOf(finding)}`;

/** Repeats the checks until it is stopped. What is new is told, and what was mended; what stays is told once. */
export function keepChecking({
  first,
  check,
  tell,
  everyMs = CHECK_EVERY_MS,
  soonMs = CHECK_SOON_MS,
}: KeepChecking): Checking {
  let findings = first;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const once = async (): Promise<void> => {
    const before = findings;
    findings = await check();
    const isIn = (some: readonly Finding[]) => (one: Finding) => some.some((other) => keyOf(other) === keyOf(one));
    tellAll(
      findings.filter((finding) => !isIn(before)(finding)),
      tell,
    );
    for (const gone of before.filter((finding) => isOpen(finding) && !isIn(findings)(finding)))
      tell('note', `${gone.level} no more: ${nameOf(gone)}`, { check: gone.check });
  };
  // One at a time, since each reports what changed since the one before.
  let checks = Promise.resolve();
  const next = (waitMs = findings.some(isOpen) ? soonMs : everyMs): void => {
    clearTimeout(timer);
    if (isStopped) return;
    timer = setTimeout(() => {
      checks = checks.then(once).then(() => next());
    }, waitMs).unref();
  };
  next();
  return {
    findings: () => findings,
    soon: () => next(0),
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
