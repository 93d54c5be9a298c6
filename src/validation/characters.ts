const KINDS: readonly [pattern: RegExp, kind: string][] = [
  [/[\p{C}\p{Z}\p{M}]/u, 'invisible'],
  [/\p{Script=Cyrillic}/u, 'Cyrillic'],
  [/\p{Script=Greek}/u, 'Greek'],
];

/** Names the first character that is not printable ASCII: `character 5 is U+0410 (Cyrillic)`; undefined = there is none. */
export function unusualCharacter(text: string): string | undefined {
  const characters = [...text];
  const at = characters.findIndex((character) => !/^[ -~]$/.test(character));
  const found = characters[at];
  if (found === undefined) return undefined;
  const code = found.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
  const kind = KINDS.find(([pattern]) => pattern.test(found))?.[1];
  return `character ${at + 1} is U+${code}${kind ? ` (${kind})` : ''}`;
}

/** True if a name shows like `known`: other case, blanks or hyphens for underscores, letters of other scripts, invisible ones. */
export function looksLike(name: string, known: string): boolean {
  const shown = [...name.toLowerCase()].filter((character) => !/[\p{Cf}\p{Cc}\p{M}]/u.test(character));
  const same = shown.filter((character, index) => character.replace(/[ -]/, '_') === known[index]).length;
  const others = shown.filter((character) => character > '~').length;
  // A word of another script is as long by chance.
  return shown.length === known.length && same + others >= known.length && same >= others;
}
