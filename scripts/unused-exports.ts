import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import type { SourceFile } from './import-directions.js';

const FOLDERS = ['src', 'sandbox', 'simulator', 'chaos', 'soak', 'scripts', 'bench', 'test', 'examples'];

/** Modules whose exports are read from outside of our code: by users of the library, and by Temporal's bundler, which gets paths. */
const ENTRIES =
  /^src\/(?:index|testing|workflows\/(?:index|interceptors|encrypted|required)|bundle\/converters(?:-required)?)\.ts$/;

/** All TypeScript files that are ours, tests included. */
export function readAll(root: string): SourceFile[] {
  return FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => posix.join(folder, name.replaceAll('\\', '/')))
      .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') })),
  );
}

const DECLARED = /^export (?:abstract |async )*(?:function\*?|const|let|class|interface|type|enum) ([\w$]+)/gm;
/** `export const { a, b: c } = …` and `export { a, b as c } …`. */
const LISTED = /^export (?:type |const )?\{([^}]*)\}/gm;
/** An import or export with names, all of a module, or a module that is loaded later. */
const TAKEN = /^(?:import|export) (?:type )?(?:\w+, )?\{([^}]*)\}\s*from\s*'(\.[^']+)'/gm;
const WHOLE = /^(?:import|export) (?:type )?\*(?: as (\w+))? from '(\.[^']+)'|\bimport\(\s*'(\.[^']+)'\s*\)/gm;

/** `a, type b as c` → the names before or after `as`. */
const namesIn = (list: string, side: 0 | -1): string[] =>
  list
    .split(',')
    .map(
      (part) =>
        part
          .trim()
          .replace(/^type /, '')
          .split(/\s+as\s+|:\s*/)
          .at(side) ?? '',
    )
    .filter((name) => name !== '');

/** One line per named export of `src` that no other file imports; empty = all is well. */
export function unusedExports(files: readonly SourceFile[]): string[] {
  const taken = new Set<string>();
  const whole = new Set<string>();
  for (const { path, text } of files) {
    const target = (specifier: string) => posix.join(posix.dirname(path), specifier).replace(/\.[cm]?js$/, '.ts');
    for (const [, list = '', specifier = ''] of text.matchAll(TAKEN)) {
      for (const name of namesIn(list, 0)) taken.add(`${target(specifier)} ${name}`);
    }
    for (const [, , all, lazy] of text.matchAll(WHOLE)) whole.add(target(all ?? lazy ?? ''));
  }
  return files
    .filter(({ path }) => path.startsWith('src/') && !ENTRIES.test(path) && !whole.has(path))
    .flatMap(({ path, text }) => exportsOf(text).map((name) => ({ path, name })))
    .filter(({ path, name }) => !taken.has(`${path} ${name}`))
    .map(({ path, name }) => `${path}: exports ${name}, which nothing imports`);
}

function exportsOf(text: string): string[] {
  const declared = [...text.matchAll(DECLARED)].map(([, name = '']) => name);
  return [...declared, ...[...text.matchAll(LISTED)].flatMap(([, list = '']) => namesIn(list, -1))];
}
