import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readSources } from '../../scripts/import-directions.js';

const sources = readSources(fileURLToPath(new URL('../..', import.meta.url))).filter(({ path }) =>
  path.startsWith('src/'),
);

/** Writes to a stream of a terminal in a text, past the one writer. */
const writesIn = (path: string, text: string): string[] => {
  const ways = path.startsWith('src/starter/')
    ? /\.write\(|\bconsole\./
    : /\b(?:stdout|stderr|stream)\.write\(|\bconsole\./;
  return text.split('\n').flatMap((line) => (ways.test(line) ? [`${path}: ${line.trim()}`] : []));
};

test('one function writes to terminals', () => {
  const found = sources.flatMap(({ path, text }) => (path === 'src/print.ts' ? [] : writesIn(path, text)));
  expect(found).toEqual([]);
});

test('every log escapes what a terminal would obey', () => {
  const logs = sources.flatMap(({ path, text }) =>
    [...text.matchAll(/\bpino\((?!\))[\s\S]*?destination/g)].map(([call]) => `${path}: ${call}`),
  );
  expect(logs.length).toBeGreaterThan(0);
  for (const log of logs) expect(log).toContain('hooks: LOG_HOOKS');
});

test('the search finds writes of each kind', () => {
  expect(writesIn('src/process.ts', 'process.stderr.write(x)\nconsole.log(x)')).toHaveLength(2);
  expect(writesIn('src/starter/a.ts', 'io.out.write(x)\nfiles.read(x)')).toHaveLength(1);
});
