import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readAll, unusedExports } from '../../scripts/unused-exports.js';

test('some file imports each export of src', () => {
  const files = readAll(fileURLToPath(new URL('../..', import.meta.url)));
  expect(files.length).toBeGreaterThan(500);
  expect(unusedExports(files)).toEqual([]);
});

const EXPORTS: [string, string[]][] = [
  ['export const a = 1;\nexport async function b() {}\nexport abstract class C {}', ['a', 'b', 'C']],
  ['export type T = 1;\nexport interface I {}\nexport enum E {}', ['T', 'I', 'E']],
  ['const a = 1;\nexport { a, b as c };\nexport type { T };', ['a', 'c', 'T']],
  ["export { d as e,\n  type F } from './other.js';", ['e', 'F']],
  ['export const { a, b: c } = made();', ['a', 'c']],
  ['// export const a = 1;\nconst b = 2;', []],
];

test.each(EXPORTS)('%j exports %j', (text, names) => {
  const files = [{ path: 'src/part/own.ts', text }];
  expect(unusedExports(files)).toEqual(names.map((name) => expect.stringContaining(`exports ${name},`)));
});

test.each([
  ['test/part/a.test.ts', "import { used } from '../../src/part/own.js';"],
  ['src/part/b.ts', "import { type Other,\n  used as mine } from './own.js';"],
  ['src/part/b.ts', "import type { used } from './own.js';"],
  ['src/index.ts', "export { used } from './part/own.js';"],
  ['src/part/b.ts', "export * from './own.js';"],
  ['scripts/b.ts', "import * as all from '../src/part/own.js';"],
  ['src/part/b.ts', "const { used } = await import('./own.js');"],
])('%s uses it by %j', (path, text) => {
  const own = { path: 'src/part/own.ts', text: 'export const used = 1;' };
  expect(unusedExports([own, { path, text }])).toEqual([]);
});

test.each([
  ['src/other/b.ts', "import { used } from './own.js';"],
  ['src/part/b.ts', "import { unused } from './own.js';"],
  ['src/part/b.ts', "import './own.js';"],
])('%s does not use it by %j', (path, text) => {
  const own = { path: 'src/part/own.ts', text: 'export const used = 1;' };
  expect(unusedExports([own, { path, text }])).toHaveLength(1);
});
