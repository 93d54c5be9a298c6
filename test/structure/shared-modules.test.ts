import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readSources } from '../../scripts/import-directions.js';
import { buildWorkflowBundle } from '../../scripts/workflow-bundle.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** What a module may not have at its top level when all workflows of a worker share it: it would pass from one to the next. */
const STATE = [
  /^(?:export )?(?:let|var)\s.*$/gm,
  /^(?:export )?const \w+(?:: (?!Readonly)[^=]+)? = new (?:Weak)?(?:Map|Set)\b.*$/gm,
  /^(?:export )?const \w+(?:: (?!readonly |Readonly)[^=]+)? = (?:\[\]|\{\});?$/gm,
  /^\s+static (?!readonly ).*=.*$/gm,
  /^(?:export )?const \w+ = (?:await )?(?:workflowInfo|uuid4|Date\.now|Math\.random|patched|isPatched)\(.*$/gm,
];

const stateIn = (text: string): string[] => STATE.flatMap((pattern) => text.match(pattern) ?? []);

test('the modules of the workflow bundle are loaded once, before any workflow', async () => {
  // The mode with the most modules.
  const { code } = await buildWorkflowBundle('required');
  const preloaded = /function preloadModules\(\) \{([\s\S]*?)\n\}/.exec(code)?.[1] ?? '';
  for (const name of ['index', 'interceptors', 'encrypted', 'required']) {
    expect(preloaded).toContain(`/src/workflows/${name}.ts`);
  }
});

test('no module that workflows share keeps anything of a workflow', () => {
  const found = readSources(root)
    .filter(({ path }) => /^src\/(?:workflows|contract)\//.test(path))
    .flatMap(({ path, text }) => stateIn(text).map((line) => `${path}: ${line}`));
  expect(found).toEqual([]);
});

test('the search finds state, and takes constants for none', () => {
  const bad = `
let last: string | undefined;
export const seen = new Map<string, number>();
const waiting: string[] = [];
const begun = Date.now();
  static count = 0;
`;
  expect(stateIn(bad)).toHaveLength(5);
  const good = `
const VERDICTS: ReadonlySet<unknown> = new Set(['a']);
const NONE: readonly string[] = [];
const read = (): number => Date.now();
  let local = 0;
  static readonly LIMIT = 3;
`;
  expect(stateIn(good)).toEqual([]);
});

test('no test replaces a module, which the next test file of its process would find replaced', async () => {
  const names = (await readdir(join(root, 'test'), { recursive: true })).filter((name) => name.endsWith('.ts'));
  const texts = await Promise.all(names.map((name) => readFile(join(root, 'test', name), 'utf8')));
  expect(names.filter((_, n) => /\bvi\.(?:do)?mock\(/i.test(texts[n] ?? ''))).toEqual([]);
});
