import { DEFAULT_ACCOUNT } from '../contract/names.js';
import type { OnlyByCommand } from '../contract/signature.js';

/** Words of a command line: an option with its value, or a word alone; what is undefined is left out. */
type Word = string | readonly [option: string, value: string | undefined] | undefined;

/** What a person has to fill in; neither the shell nor a verb takes it as it stands. */
const YOUR_KEY = '<file of your private key>';

/** `--key`, where what the line says must be signed. */
export const keyFor = (onlyByCommand: OnlyByCommand | undefined): Word =>
  onlyByCommand === 'signed' ? ['--key', YOUR_KEY] : undefined;

/** `--account`, where it is not the one that is meant without. */
export const ofAccount = (account: string): Word => (account === DEFAULT_ACCOUNT ? undefined : ['--account', account]);

/** A command line as a POSIX shell takes it. `does` is said behind it, as a comment. */
export function suggested(self: string, words: readonly Word[], does?: string): string {
  const typed = words.flatMap((word) => {
    if (word === undefined || typeof word === 'string') return word ?? [];
    const [option, value] = word;
    return value === undefined ? [] : `${option} ${quoted(value)}`;
  });
  return `${[self, ...typed].join(' ')}${does ? `  # ${does}` : ''}`;
}

/** What a shell could take for anything but a word stands in single quotes: unquoted, `<name>` reads from a file. */
const quoted = (value: string): string =>
  /^[\w@%+=:,./-]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`;
