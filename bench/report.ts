import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { filledPage } from './report/page.js';
import { chart } from './report/svg.js';
import { markdown, type Table } from './table.js';

/** What one run measured, and what its figures depend on. */
export interface Run {
  facts: Record<string, string>;
  tables: Table[];
}

/** What runs measured. */
export interface Report {
  runs: Run[];
}

/** Reads what `--json` wrote; of a table that stands in several the last one holds. */
export async function readReports(files: readonly string[]): Promise<Report> {
  const read = await Promise.all(files.map(async (file) => JSON.parse(await readFile(file, 'utf8')) as Report));
  const runs = read.flatMap((report) => report.runs);
  const later = (index: number) => runs.slice(index + 1).flatMap(({ tables }) => tables.map(({ id }) => id));
  const last = runs.map(({ facts, tables }, index) => ({
    facts,
    tables: tables.filter(({ id }) => !later(index).includes(id)),
  }));
  return { runs: last.filter(({ tables }) => tables.length > 0) };
}

/** One line of what the figures depend on. */
export const factsLine = (facts: Record<string, string>): string =>
  Object.entries(facts)
    .map(([name, value]) => `${name}: ${value}`)
    .join(' · ');

/** Prints the tables, and writes what is wanted besides. */
export async function publish(
  report: Report,
  { json, charts, page }: { json?: string; charts?: string; page?: string },
): Promise<void> {
  const tables = report.runs.flatMap(({ facts, tables }) => tables.map((table) => ({ table, facts })));
  for (const { table } of tables) process.stdout.write(`${markdown(table)}\n\n`);
  for (const { facts } of report.runs) process.stdout.write(`${factsLine(facts)}\n`);
  if (json) await mkdir(dirname(json), { recursive: true });
  if (json) await writeFile(json, `${JSON.stringify(report, undefined, 2)}\n`);
  if (charts) {
    await mkdir(charts, { recursive: true });
    for (const { table } of tables) await writeFile(join(charts, `${table.id}.svg`), chart(table));
  }
  if (page) {
    const folder = charts && relative(dirname(page), charts);
    await writeFile(page, filledPage(await readFile(page, 'utf8'), report, folder));
  }
}
