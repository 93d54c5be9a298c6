/** Last days of security fixes by major version of Node.js, as nodejs.org plans them. */
const LAST_FIXES: Readonly<Record<string, string>> = {
  20: '2026-04-30',
  22: '2027-04-30',
  24: '2028-04-30',
};

/** Returns a warning if this Node.js gets no security fixes any more. */
export function oldNodeWarning(version = process.versions.node, nowMs = Date.now()): string | undefined {
  const last = LAST_FIXES[version.split('.')[0] ?? ''];
  if (last === undefined || nowMs < Date.parse(`${last}T24:00:00Z`)) return undefined;
  return `Node.js ${version} has had no security fixes since ${last}. Orders are paid as before: install Node.js 24, then restart the workers one by one`;
}
