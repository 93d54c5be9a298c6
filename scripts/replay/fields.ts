import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SRC = fileURLToPath(new URL('../../src/', import.meta.url));

/** What a released version wrote into histories: `<version>.json`, `{type: 'field, literal'}`. */
export const FIELDS_FOLDER = fileURLToPath(new URL('../../test/replay/fields/', import.meta.url));

/** Folders of the types of inputs, answers, messages, events and results. */
const FOLDERS = ['contract', 'shapes'];

const DECLARATION = /^(?:export )?(?:interface|type|const) (\w+)/;

/** Returns the fields and literals of each type and shape that histories hold, by its name. */
export async function fieldsOfContract(): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const folder of FOLDERS) {
    const files = (await readdir(join(SRC, folder), { recursive: true })).filter((file) => file.endsWith('.ts')).sort();
    for (const file of files) Object.assign(found, fieldsIn(await readFile(join(SRC, folder, file), 'utf8'), folder));
  }
  return found;
}

/** Keeps them as those of a released version. */
export async function writeFields(version: string): Promise<void> {
  await mkdir(FIELDS_FOLDER, { recursive: true });
  const lines = Object.entries(await fieldsOfContract()).map(([type, names]) => [type, names.join(', ')]);
  await writeFile(join(FIELDS_FOLDER, `${version}.json`), `${JSON.stringify(Object.fromEntries(lines), null, 2)}\n`);
}

/** Returns those of one source. Constants count as shapes in the folder of shapes alone. */
export function fieldsIn(source: string, folder = 'contract'): Record<string, string[]> {
  const text = source.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  const found: Record<string, string[]> = {};
  // What only closes a body begins with another sign.
  for (const declared of text.split(/^(?=[a-z])/m)) {
    const [, name] = DECLARATION.exec(declared) ?? [];
    if (!name || (folder !== 'shapes' && /^(?:export )?const/.test(declared))) continue;
    const names = declared.matchAll(/(\w+)\??: |'([\w -]+)'/g);
    const all = [...new Set([...names].map(([, field, literal]) => field ?? literal ?? ''))].sort();
    if (all.length > 0) found[name] = all;
  }
  return found;
}
