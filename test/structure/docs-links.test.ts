import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { settingsTable, withTable } from '../../scripts/settings-table.js';
import { NAMES } from '../../src/config/settings.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): Promise<string> => readFile(join(root, path), 'utf8');

const OF_ROOT = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md'];

/** The pages of the root and everything below `docs`, by path. */
let pages: Map<string, string>;
beforeAll(async () => {
  const names = await readdir(join(root, 'docs'), { recursive: true });
  const paths = [...OF_ROOT, ...names.filter((name) => name.endsWith('.md')).map((name) => join('docs', name))];
  pages = new Map(await Promise.all(paths.map(async (path): Promise<[string, string]> => [path, await read(path)])));
});

/** The anchors of a page, as GitHub makes them of its headings. */
const anchorsOf = (text: string): string[] =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

/** Why a link of a page leads nowhere; undefined = it leads somewhere. */
function brokenLink(page: string, link: string): string | undefined {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? page : relative(root, join(root, dirname(page), path));
  if (!existsSync(join(root, target))) return `${page}: ${link} does not exist`;
  if (anchor === undefined) return undefined;
  return anchorsOf(pages.get(target) ?? '').includes(anchor) ? undefined : `${page}: ${link} has no such heading`;
}

describe('what the documents point to', () => {
  test('every relative link leads to a file, and its anchor to a heading', () => {
    const broken = [...pages].flatMap(([page, text]) =>
      [...text.matchAll(/\]\(([^)\s]+)\)/g)]
        .map(([, link = '']) => link)
        .filter((link) => !/^[a-z]+:/.test(link))
        .map((link) => brokenLink(page, link)),
    );
    expect(broken.filter((problem) => problem !== undefined)).toEqual([]);
  });

  test('every path of the repository that they name exists', () => {
    const named = [...pages].flatMap(([page, text]) =>
      [...text.matchAll(/`((?:src|test|scripts|docs|examples|bench)\/[\w./-]+)`/g)].map(([, path = '']) => ({
        page,
        path,
      })),
    );
    expect(named.length).toBeGreaterThan(50);
    expect(named.filter(({ path }) => !existsSync(join(root, path)))).toEqual([]);
  });

  test('every folder of the house in docs/architecture.md exists, and every folder of src stands there', async () => {
    const rows = (pages.get(join('docs', 'architecture.md')) ?? '')
      .split('\n')
      .filter((line) => /^\| `[\w/-]+\/`/.test(line));
    const told = rows.flatMap((row) =>
      [...(row.split('|')[1] ?? '').matchAll(/`([\w/-]+)\/`/g)].map(([, name = '']) => name),
    );
    expect(told.filter((name) => !existsSync(join(root, 'src', name)))).toEqual([]);
    const entries = await readdir(join(root, 'src'), { withFileTypes: true });
    const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    expect(folders.filter((name) => !told.includes(name))).toEqual([]);
  });

  test('every function that they name behind a source file stands in it', async () => {
    const named = [...pages.values()].flatMap((text) =>
      [...text.matchAll(/`(src\/[\w./-]+\.ts)` `([a-z]\w+)`/g)].map(([, path = '', name = '']) => ({ path, name })),
    );
    expect(named.length).toBeGreaterThan(20);
    const texts = await Promise.all(named.map(({ path }) => read(path)));
    expect(named.filter(({ name }, index) => !texts[index]?.includes(name))).toEqual([]);
  });

  test('every page of docs that the code names exists', async () => {
    const sources = await readdir(join(root, 'src'), { recursive: true });
    const texts = await Promise.all(
      sources.filter((name) => name.endsWith('.ts')).map((name) => read(join('src', name))),
    );
    const named = texts.flatMap((text) => text.match(/docs\/[\w./-]+\.md/g) ?? []);
    expect(named.filter((path) => !pages.has(path))).toEqual([]);
  });
});

test('every pool that a neighbour can fill has a limit, and a test that is named', () => {
  const [, section = ''] = (pages.get('docs/trust.md') ?? '').split(/^## Pools.*$/m);
  const rows = (section.split(/^## /m)[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(1);
  const cells = rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  expect(cells.filter((row) => row.length !== 5 || row.includes(''))).toEqual([]);
  expect(
    cells.flatMap(([, , , , named = '']) => (/^(`test\/[\w./-]+\.test\.ts`(, |$))+$/.test(named) ? [] : named)),
  ).toEqual([]);
  const pools = cells.map(([pool]) => pool);
  for (const lacked of ['requests of Temporal', 'lists of Temporal', 'events of a history', 'memory of the receiver'])
    expect(pools).toContain(lacked);
});

test('no page is longer than 3,000 words, but for reliability.md, and all of them have at most 32,000', () => {
  const read = [...pages].filter(([page]) => !/^SECURITY|plan\.md$|adr/.test(page));
  // A word has a letter or a digit; blocks of code are not read as text.
  const counts = read.map(([page, text]) => ({
    page,
    words: text
      .replaceAll(/^ *```[\s\S]*?^ *```$/gm, '')
      .split(/\s+/)
      .filter((word) => /[\p{L}\p{N}]/u.test(word)).length,
  }));
  expect(counts.filter(({ page, words }) => words > 3_000 && !page.endsWith('reliability.md'))).toEqual([]);
  expect(counts.reduce((sum, { words }) => sum + words, 0)).toBeLessThanOrEqual(32_000);
});

describe('README', () => {
  test('fits on a page', () => {
    expect(pages.get('README.md')?.trimEnd().split('\n').length).toBeLessThanOrEqual(80);
  });

  test('shows the code of examples/pay-out.ts, which is compiled', async () => {
    const [, shown] = /```ts\n(.*?)```/s.exec(pages.get('README.md') ?? '') ?? [];
    expect(shown?.replace("'payment-orders'", "'../src/index.js'")).toBe(await read('examples/pay-out.ts'));
  });
});

describe('docs/running.md', () => {
  test('has the table of settings as src/config/settings.ts makes it, at most 40 of them', () => {
    const page = pages.get(join('docs', 'running.md')) ?? '';
    expect(page).toBe(withTable(page));
    expect(page).toContain(settingsTable());
    // These two are named, and set, by Temporal's worker controller.
    const own = NAMES.filter((name) => !/^TEMPORAL_(DEPLOYMENT_NAME|WORKER_BUILD_ID)$/.test(name));
    expect(own.length).toBeLessThanOrEqual(40);
    const [usual = '', advanced = ''] = settingsTable().split('### Advanced');
    expect(usual.split('\n').length).toBeGreaterThan(20);
    expect(advanced.split('\n').length).toBeGreaterThan(10);
  });

  test('names every allowance in the part about them', () => {
    const [, part = ''] = (pages.get(join('docs', 'running.md')) ?? '').split('## Allowed explicitly');
    const told = new Set(part.split('\n## ')[0]?.match(/ALLOW_[A-Z_]+/g));
    expect([...told].sort()).toEqual(NAMES.filter((name) => name.startsWith('ALLOW_')).sort());
  });
});

describe('what the UI shows', () => {
  /** What stands between the parts of a text that the code puts together. */
  const SEAMS = /…|\*[^*]+\*| \/ |[;:()]|, (?:and )?/;

  /** The texts in the tables of a part of a page, in the pieces that the code holds as one; `column` is in their heads. */
  function shownTexts(page: string, from: string, column: string): string[] {
    const [, part = ''] = (pages.get(join('docs', page)) ?? '').split(`\n## ${from}`);
    const tables = (part.split('\n## ')[0] ?? '').split(/\n(?!\|)/);
    return tables.flatMap((table) => {
      const [head = '', , ...rows] = table
        .split('\n')
        .filter((line) => line.startsWith('| ') || line.startsWith('|--'));
      const index = head
        .slice(2)
        .split(' | ')
        .findIndex((cell) => cell.includes(column));
      const texts = rows.map((row) => row.slice(2).split(' | ')[index] ?? '');
      return texts.flatMap((cell) => cell.replaceAll('**', '').split(SEAMS)).map((piece) => piece.trim());
    });
  }

  test.each([
    ['deciding.md', 'What the UI shows', 'text', 50],
    ['batches.md', 'What a batch asks for', 'current details', 10],
  ])('%s tells of no text that the code does not have', async (page, from, column, atLeast) => {
    const names = (await readdir(join(root, 'src'), { recursive: true })).filter((name) => name.endsWith('.ts'));
    const code = (await Promise.all(names.map((name) => read(join('src', name))))).join('\n');
    const long = shownTexts(page, from, column).filter((text) => text.length >= 8);
    expect(long.length).toBeGreaterThan(atLeast);
    expect(long.filter((text) => !code.includes(text))).toEqual([]);
  });
});
