/** Public advisory on Temporal's server. `fixedIn`: the first safe patch of each minor version. */
interface Advisory {
  id: string;
  what: string;
  fixedIn: readonly string[];
}

/** Source: https://github.com/temporalio/temporal/security/advisories, as of November 2026. */
const ADVISORIES: readonly Advisory[] = [
  {
    id: 'CVE-2025-14987',
    what: 'a worker of another namespace starts, signals and cancels workflows in this one',
    fixedIn: ['1.27.4', '1.28.2', '1.29.2'],
  },
  {
    id: 'CVE-2025-14986',
    what: 'an update with a start is allowed by the rights of another namespace',
    fixedIn: ['1.27.4', '1.28.2', '1.29.2'],
  },
  {
    id: 'CVE-2026-5199',
    what: 'batch jobs of another namespace reach workflows in this one',
    fixedIn: ['1.29.5', '1.30.3'],
  },
  {
    id: 'CVE-2026-5724',
    what: 'the replication stream needs no authentication',
    fixedIn: ['1.28.4', '1.29.6', '1.30.4'],
  },
];

/** Oldest server without a known advisory that this is tested with. */
export const FLOOR = '1.30.4';

const partsOf = (version: string): number[] => version.split(/[.-]/, 3).map(Number);

/** Returns true if `version` is older than `other`. Versions: `1.30.4`. */
export function isBelow(version: string, other: string): boolean {
  const [own, theirs] = [partsOf(version), partsOf(other)];
  const at = theirs.findIndex((part, n) => part !== own[n]);
  return at >= 0 && (own[at] ?? 0) < (theirs[at] ?? 0);
}

/** Returns the advisories that a server version is open to. */
export function advisoriesOn(version: string): readonly Advisory[] {
  const minorOf = (one: string) => partsOf(one).slice(0, 2).join('.');
  return ADVISORIES.filter(({ fixedIn }) => {
    const own = fixedIn.find((fixed) => minorOf(fixed) === minorOf(version));
    return isBelow(version, own ?? fixedIn[0] ?? FLOOR);
  });
}
