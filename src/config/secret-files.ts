import { closeSync, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import type { z } from 'zod';
import { fieldErrors } from '../validation/field-errors.js';
import { readJson } from '../validation/json-input.js';
import type { Problems } from './env.js';

/** Read, write and execute rights of other users. */
const OTHERS = 0o007;

const OPEN_FILE =
  'may be read or changed by other users: chmod 600 (Kubernetes: defaultMode: 0400, with fsGroup where the process is not root)';

/** Returns true if others may change the file, or read a secret. Our group may read it. */
function isOpen({ mode, uid }: Stats, isSecret: boolean): boolean {
  // These bits do not show the permissions of Windows.
  if (process.getuid === undefined) return false;
  const group = isSecret && uid === process.getuid() ? 0o060 : 0o020;
  return (mode & (group | (isSecret ? OTHERS : 0o002))) !== 0;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Reason for refusing a file that `readOpened` does not read. */
export const UNREADABLE = 'cannot be read as UTF-8 text';

/** Reads a text file, without a byte order mark, and its rights; undefined if it is unreadable. */
export function readOpened(path: string): { text: string; stats: Stats } | undefined {
  try {
    const file = openSync(path, 'r');
    try {
      return { stats: fstatSync(file), text: utf8.decode(readFileSync(file)) };
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}

/** Reads a settings file; undefined if that fails. `isSecret`: whether its content is secret. */
export function readSettingsFile(
  path: string,
  problems: Problems,
  { variable, what = '' }: { variable: string; what?: string },
  isSecret: (text: string) => boolean = () => true,
): string | undefined {
  const file = readOpened(path);
  if (!file) return undefined;
  const { text, stats } = file;
  if (isOpen(stats, isSecret(text))) problems.weak('ALLOW_READABLE_FILES', variable, what + OPEN_FILE);
  return text;
}

/** Returns a secret file without its last line break; undefined if that fails. */
export const readSecretFile = (path: string, problems: Problems, variable: string, what = ''): string | undefined =>
  readSettingsFile(path, problems, { variable, what })?.replace(/\r?\n$/, '');

/** Returns a file's JSON by a schema; undefined after it has reported each mistake. */
export function parseJson<S extends z.ZodType>(
  text: string | undefined,
  schema: S,
  refuse: (reason: string) => void,
): z.output<S> | undefined {
  const { value, problem = undefined } =
    text === undefined ? { value: undefined, problem: UNREADABLE } : readJson(text);
  // A duplicate name is a mistake, too: the later value would win.
  if (problem) return void refuse(problem);
  const { data, error } = schema.safeParse(value);
  for (const { field, reason } of error ? fieldErrors(error) : []) refuse(`${field}: ${reason}`);
  return data;
}

/** Refuses a folder of payments that all users may enter. */
export function refuseOpenFolder({ mode }: Stats, variable: string, problems: Problems): void {
  if (process.getuid === undefined || (mode & OTHERS) === 0) return;
  problems.weak('ALLOW_READABLE_FILES', variable, 'may be entered by every user of the machine: chmod o-rwx');
}
