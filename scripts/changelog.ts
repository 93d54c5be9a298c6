/** Groups of Keep a Changelog, in the order of the page. */
const GROUPS = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'] as const;

/** One line of the changelog. */
export interface Entry {
  group: (typeof GROUPS)[number];
  text: string;
}

/** Returns the entries of a file of `.changeset`. Throws, with its name, if a line has no group. */
export function entriesOf(name: string, file: string): Entry[] {
  const [, text = ''] = /^---\n.*?\n---\n(.*)$/s.exec(file) ?? [];
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.length === 0) throw new Error(`${name} has no text for users`);
  return lines.map((line) => {
    const [, word, said = ''] = /^(?:- )?(\w+): (.+)$/.exec(line) ?? [];
    const group = GROUPS.find((one) => one === word);
    if (!group) throw new Error(`${name}: begin the line with ${GROUPS.join(', ')} and a colon: ${line}`);
    return { group, text: said };
  });
}

/** Returns the changelog with a version more, before the earlier ones. `day`: `2026-11-27`. */
export function withVersion(log: string, version: string, day: string, entries: readonly Entry[]): string {
  const parts = GROUPS.flatMap((group) => {
    const lines = entries.filter((entry) => entry.group === group).map(({ text }) => `- ${text}\n`);
    return lines.length > 0 ? [`### ${group}\n\n${lines.join('')}`] : [];
  });
  const at = log.search(/^## \[/m);
  if (at < 0) throw new Error('CHANGELOG.md has no version');
  return `${log.slice(0, at)}## [${version}] - ${day}\n\n${parts.join('\n')}\n${log.slice(at)}`;
}

/** Returns what the changelog says of a version. Throws if it says nothing. */
export function notesOf(log: string, version: string): string {
  const [, ...parts] = log.split(/^## \[/m);
  const part = parts.find((one) => one.startsWith(`${version}] - `));
  if (part === undefined) throw new Error(`CHANGELOG.md says nothing of ${version}. Run npm run version`);
  return `${part.slice(part.indexOf('\n')).trim()}\n`;
}
