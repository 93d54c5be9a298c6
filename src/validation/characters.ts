import { describeCharacter } from './text-kinds.js';

/** Names the first character that is not printable ASCII: `character 5 is U+0410 (a Cyrillic letter)`; undefined = there is none. */
export function unusualCharacter(text: string): string | undefined {
  const characters = [...text];
  const at = characters.findIndex((character) => !/^[ -~]$/.test(character));
  const found = characters[at];
  if (found === undefined) return undefined;
  return `character ${at + 1} is ${describeCharacter(found)}`;
}

/** True if a name shows like `known`: other case, blanks or hyphens for underscores, letters of other scripts, invisible ones. */
export function looksLike(name: string, known: string): boolean {
  const shown = [...name.toLowerCase()].filter((character) => !/[\p{Cf}\p{Cc}\p{M}]/u.test(character));
  const same = shown.filter((character, index) => character.replace(/[ -]/, '_') === known[index]).length;
  const others = shown.filter((character) => character > '~').length;
  // A word of another script is as long by chance.
  return shown.length === known.length && same + others >= known.length && same >= others;
}
