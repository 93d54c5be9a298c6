import { readFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): Promise<string> => readFile(`${root}${path}`, 'utf8');

/** The arguments of each `npm test` of `.ci/run`; without any, `npm test` runs these projects. */
async function runsOfAChange(): Promise<string[][]> {
  const script = (await read('.ci/run')).replaceAll('\\\n', ' ');
  return [...script.matchAll(/^npm test(?: -- (.*?))? 2>&1/gm)].map(([, given]) =>
    given === undefined
      ? ['unit', 'simulated', 'temporal'].flatMap((name) => ['--project', name])
      : given.trim().split(/\s+/),
  );
}

async function filesOf(given: string[]): Promise<string[]> {
  const { stdout } = await execa('vitest', ['list', '--filesOnly', '--json', ...given], {
    cwd: root,
    preferLocal: true,
  });
  return (JSON.parse(stdout) as { file: string }[]).map(({ file }) => relative(root, file));
}

test('each row of docs/reliability.md has a test that runs on each change', async () => {
  const runs = await runsOfAChange();
  expect(runs).toHaveLength(2);
  const files = new Set((await Promise.all(runs.map(filesOf))).flat());
  const rows = (await read('docs/reliability.md')).split('\n').filter((line) => /^\| \*\*D\d/.test(line));
  expect(rows.length).toBeGreaterThan(100);
  const without = rows.filter((row) => {
    const tests = [...row.matchAll(/`(test\/[\w./-]+\.test\.ts)`/g)].map(([, path = '']) => path);
    return !tests.some((path) => files.has(path));
  });
  expect(without.map((row) => row.slice(2, 60))).toEqual([]);
});
