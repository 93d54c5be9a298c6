import type { Env, Problems, Reader } from './env.js';
import { readSecretFile } from './secret-files.js';
import { NAMES, type Settings, settingOf, sourcesOf, type Variable } from './settings.js';

/** Returns the name of the variable that is set: NAME or NAME_FILE. */
export const sourceOf = (env: Env, name: Variable): string => sourcesOf(name).findLast((it) => env[it]) ?? name;

/** Settings of a process: values, and the texts that may be shown. */
export interface Read {
  settings: Settings;
  shown: Readonly<Record<string, string>>;
}

/** Reads each setting of a reader. An invalid one is recorded and becomes undefined. */
export function readSettings(env: Env, reader: Reader, problems: Problems): Read {
  const settings: Partial<Record<Variable, unknown>> = {};
  const shown: Record<string, string> = {};
  for (const name of NAMES.filter((it) => settingOf(it).by.includes(reader))) {
    const { type, secret, unset, default: fallback } = settingOf(name);
    const text = textOf(env, name, reader, problems);
    const known = text ?? fallback;
    const result = known === undefined ? undefined : type.safeParse(known);
    if (result && !result.success) problems.add(sourceOf(env, name), result.error.issues[0]?.message ?? 'is not valid');
    settings[name] = result?.data;
    if (!secret && !name.startsWith('ALLOW_')) shown[name] = known ?? unset?.split(/[:;] /)[0] ?? 'none';
  }
  return { settings: settings as Settings, shown };
}

/** Returns the text of NAME or of the file in NAME_FILE; undefined if there is none. */
function textOf(env: Env, name: Variable, reader: Reader, problems: Problems): string | undefined {
  const sources = sourcesOf(name);
  const set = sources.filter((source) => env[source]);
  const { ofAccount, required } = settingOf(name);
  if (ofAccount && env.PAYMENT_ACCOUNTS_FILE) {
    // If it were ignored, orders would go to another account than the operator expects.
    for (const source of set) problems.add(source, 'cannot be combined with PAYMENT_ACCOUNTS_FILE: use one of them');
    return undefined;
  }
  if (set.length > 1) problems.add(name, `is given twice: unset ${set.join(' or ')}`);
  // `checkNames` already reported empty values.
  if (required?.(reader, env) && sources.every((source) => env[source] === undefined))
    problems.add(name, `is required (or ${name}_FILE)`);
  const source = set.at(-1);
  if (source === undefined || source === name) return env[name] || undefined;
  const content = readSecretFile(env[source] ?? '', problems, source);
  if (content === undefined) problems.add(source, 'cannot be read');
  return content;
}
