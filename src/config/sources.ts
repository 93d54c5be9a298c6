import type { Env, Problems } from './env.js';
import { readSettingsFile } from './secret-files.js';
import { sourcesOf, type VariableOrFile } from './variables.js';

/** The content of a secret file without its last line break; undefined when it cannot be read. `variable` names it. */
export const readSecretFile = (path: string, problems: Problems, variable: string, what = ''): string | undefined =>
  readSettingsFile(path, problems, { variable, what })?.replace(/\r?\n$/, '');

/** Why a key or secret cannot be one, or undefined. A newline would end up in a header, or be a badly pasted file. */
export function secretProblem(value: string): string | undefined {
  if (value === '') return 'must not be empty';
  return /^[\x21-\x7e]+$/.test(value) ? undefined : 'must not contain blanks, line breaks or control characters';
}

/** The name of the variable that is set: NAME or NAME_FILE. */
export const sourceOf = (env: Env, name: VariableOrFile): string => sourcesOf(name).findLast((it) => env[it]) ?? name;

/** Returns a text from NAME or from the file that NAME_FILE names, checked by `problemOf`; '' if there is none. */
export function valueOrFile(
  env: Env,
  name: VariableOrFile,
  problems: Problems,
  problemOf: (value: string) => string | undefined,
): string {
  const sources = sourcesOf(name);
  const set = sources.filter((source) => env[source]);
  if (set.length > 1) problems.add(name, `is given twice: unset ${set.join(' or ')}`);
  if (sources.every((source) => env[source] === undefined)) problems.add(name, `is required (or ${name}_FILE)`);
  const source = sourceOf(env, name);
  // What is empty was told with the names.
  if (!env[source]) return '';
  const value = source === name ? env[source] : readSecretFile(env[source], problems, source);
  const problem = value === undefined ? 'cannot be read' : problemOf(value);
  if (problem) problems.add(source, problem);
  return value ?? '';
}
