import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');

test('every dependency stands in docs/dependencies.md, with its reason', async () => {
  const { dependencies, devDependencies, peerDependencies } = JSON.parse(await read('package.json'));
  const document = await read('docs/dependencies.md');
  const [, engine = ''] = /`@temporalio\/\*` .*?\((.*?)\)/.exec(document) ?? [];
  const documented = [
    ...engine.split(', ').map((name) => `@temporalio/${name}`),
    ...[...document.matchAll(/`([^`]+)`/g)].map(([, name]) => name),
  ];
  const names = Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies });
  expect(names.filter((name) => !documented.includes(name))).toEqual([]);
});
