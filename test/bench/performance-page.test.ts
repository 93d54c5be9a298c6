import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { filledPage } from '../../bench/report/page.js';
import { chart } from '../../bench/report/svg.js';
import { readReports } from '../../bench/report.js';

const docs = fileURLToPath(new URL('../../docs', import.meta.url));
const FIGURES = ['figures.json', 'soak.json'].map((name) => join(docs, 'performance', name));
const NOT_MEASURED = 'Not measured yet.';

const report = () => readReports(FIGURES.filter((file) => existsSync(file)));

test('docs/performance.md shows what its run wrote, and nothing where there was none', async () => {
  const page = await readFile(join(docs, 'performance.md'), 'utf8');
  const measured = await report();
  expect(filledPage(page, measured, 'performance')).toBe(page);
  const shown = new Set(measured.runs.flatMap(({ tables }) => tables.map(({ id }) => id)));
  const places = [...page.matchAll(/<!-- bench (\w+) -->\n([\s\S]*?)<!-- end -->/g)];
  expect(places.length).toBe(11);
  for (const [, id = '', text = ''] of places) expect(text.trim() === NOT_MEASURED, id).toBe(!shown.has(id));
});

test('its charts are those of the same run', async () => {
  const tables = (await report()).runs.flatMap((run) => run.tables);
  const drawn = await Promise.all(tables.map(({ id }) => readFile(join(docs, 'performance', `${id}.svg`), 'utf8')));
  expect(drawn).toEqual(tables.map(chart));
});
