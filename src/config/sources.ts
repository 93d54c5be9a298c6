import type { CommandOutput } from './commands.js';
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

/** The name of the variable that is set: NAME, NAME_FILE or NAME_COMMAND. */
export const sourceOf = (env: Env, name: VariableOrFile): string => sourcesOf(name).findLast((it) => env[it]) ?? name;

/**
 * A text from NAME, from the file that NAME_FILE names or from what NAME_COMMAND printed, checked by `problemOf`; '' when there is
 * none.
 */
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
  const read = readSource(source, env[source], problems);
  const problem = 'value' in read ? problemOf(read.value) : read.problem;
  if (problem) problems.add(source, problem);
  return 'value' in read ? read.value : '';
}

function readSource(source: string, given: string, problems: Problems): CommandOutput {
  if (source.endsWith('_COMMAND')) return problems.outputs.get(source) ?? { problem: 'was not run' };
  const value = source.endsWith('_FILE') ? readSecretFile(given, problems, source) : given;
  return value === undefined ? { problem: 'cannot be read' } : { value };
}
