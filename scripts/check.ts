/** The part of `npm run check` after format, lint and types: import directions, unused exports, English, sizes, and the workflow bundle. */
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { englishProblems } from './english.js';
import { importViolations, readSources, type SourceFile } from './import-directions.js';
import { readAll, unusedExports } from './unused-exports.js';
import { buildWorkflowBundle } from './workflow-bundle.js';

/**
 * Zod and the address libraries cost every workflow run memory. A module-override stands in for a
 * Node built-in; real built-ins fail the bundling.
 */
const UNWANTED = /\/node_modules\/(?:zod|@noble|@scure)\/|\/module-overrides\//;

async function bundleProblems(): Promise<string[]> {
  try {
    const { sources, warnings } = await buildWorkflowBundle();
    const unwanted = sources.filter((source) => UNWANTED.test(source));
    return [...warnings, ...unwanted.map((source) => `The workflow bundle contains ${source}`)];
  } catch (error) {
    return [(error as Error).message];
  }
}

/** A file or a folder of `src` beyond this holds two concepts. */
const [MOST_LINES, MOST_FILES] = [280, 25];

function sizeProblems(files: readonly SourceFile[]): string[] {
  const folders = files.map(({ path }) => dirname(path));
  const long = files.filter(({ text }) => text.split('\n').length - 1 > MOST_LINES);
  const full = [...new Set(folders)].filter((folder) => folders.filter((one) => one === folder).length > MOST_FILES);
  return [
    ...long.map(({ path }) => `${path} has more than ${MOST_LINES} lines`),
    ...full.map((folder) => `${folder} has more than ${MOST_FILES} files`),
  ];
}

const root = fileURLToPath(new URL('..', import.meta.url));
const sources = readSources(root);
const ours = sources.filter(({ path }) => path.startsWith('src/'));
const problems = [
  ...[...importViolations(sources), ...englishProblems(sources), ...sizeProblems(ours)],
  ...unusedExports(readAll(root)),
  ...(await bundleProblems()),
];
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length === 0)
  process.stdout.write('Import directions, exports, comments, sizes and workflow bundle: ok\n');
process.exitCode = problems.length === 0 ? 0 : 1;
