/** The part of `npm run check` after format, lint and types: import directions, the English of comments, and the workflow bundle. */
import { fileURLToPath } from 'node:url';
import { englishProblems } from './english.js';
import { importViolations, readSources } from './import-directions.js';
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

const root = fileURLToPath(new URL('..', import.meta.url));
const sources = readSources(root);
const problems = [...importViolations(sources), ...englishProblems(sources), ...(await bundleProblems())];
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length === 0) process.stdout.write('Import directions, comments and workflow bundle: ok\n');
process.exitCode = problems.length === 0 ? 0 : 1;
