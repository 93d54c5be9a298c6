import { cp, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterEach, beforeEach, expect, test } from 'vitest';

const here = fileURLToPath(new URL('../..', import.meta.url));

/** A project with the real test command and settings, and the tests that a case writes. */
let root: string;
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'test-command-')));
  await mkdir(join(root, 'test'));
  for (const path of ['src', 'scripts', 'test/support', 'vitest.config.ts', 'tsconfig.json', 'package.json']) {
    await cp(join(here, path), join(root, path), { recursive: true });
  }
  await symlink(join(here, 'node_modules'), join(root, 'node_modules'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

/** `isFirst` of a file is true in the first run only. */
const HEAD = `
import { existsSync, writeFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
const mark = import.meta.filename + '.mark';
const isFirst = !existsSync(mark);
writeFileSync(mark, '');
`;

const FLAKY = "test('steady', () => {});\ntest('flaky', () => expect(isFirst).toBe(false));\n";

/** Runs the command as CI does, with these files; a flaky test is always among them. */
async function run(files: Record<string, string> = {}, flaky = FLAKY) {
  for (const [name, text] of Object.entries({ flaky, ...files })) {
    await writeFile(join(root, 'test', `${name}.test.ts`), HEAD + text);
  }
  const { exitCode, stdout } = await execa('sh', ['-c', 'npm test -- --project unit 2>&1'], {
    cwd: root,
    env: { CI: 'true', NO_COLOR: '1', VITEST: undefined, NODE_ENV: undefined },
    reject: false,
  });
  return { exitCode, lines: stdout.trimEnd().split('\n') };
}

const report = async (name: string) => JSON.parse(await readFile(join(root, 'test-results', name), 'utf8'));

test('what passes only alone is counted and named at the end, and the first report is kept', async () => {
  const { exitCode, lines } = await run();
  expect({ exitCode, end: lines.slice(-3) }).toEqual({
    exitCode: 0,
    end: [
      expect.stringMatching(/^passed only alone, which is a finding: test\/flaky\.test\.ts > flaky: AssertionError/),
      '1 passed only alone',
      '2 passed, 0 failed',
    ],
  });
  expect(await report('results.json')).toMatchObject({ numFailedTests: 1 });
  expect(await report('results-alone.json')).toMatchObject({ numFailedTests: 0 });
});

/** What is red in the first run only, with the reason that must be named. */
const OUTSIDE_OF_TESTS = {
  rejection: ['lost', "test('a', () => { if (isFirst) Promise.reject(new Error('lost')); });"],
  unloaded: ['not loaded', "if (isFirst) throw new Error('not loaded');\ntest('a', () => {});"],
  empty: ['No test suite found', "if (!isFirst) test('a', () => {});"],
  group: [
    'not torn down',
    "describe('group', () => { afterAll(() => { if (isFirst) throw new Error('not torn down'); });\n" +
      "test('a', () => expect(isFirst).toBe(false)); });",
  ],
} as const;

test('an error outside of all tests beside flaky ones is red, counted and named, and nothing runs again', async () => {
  const files = Object.fromEntries(Object.entries(OUTSIDE_OF_TESTS).map(([name, [, text]]) => [name, text]));
  const { exitCode, lines } = await run(files);
  expect(exitCode).toBe(1);
  expect(lines.filter((line) => line.startsWith('once more, alone'))).toEqual([]);
  const failed = lines.filter((line) => line.startsWith('failed: '));
  for (const [name, [reason]] of Object.entries(OUTSIDE_OF_TESTS)) {
    const start = `failed: test/${name}.test.ts > outside of all tests: ${reason}`;
    expect(failed).toContainEqual(expect.stringContaining(start));
  }
  expect(failed.filter((line) => line.includes(' > flaky: ') || line.includes(' > group a: '))).toHaveLength(2);
  expect(lines.at(-1)).toBe('2 passed, 6 failed');
});

test('a failed test that the second run skips has not passed', async () => {
  const { exitCode, lines } = await run({}, "test.runIf(isFirst)('flaky', () => expect.fail('first'));\n");
  expect({ exitCode, last: lines.at(-1) }).toEqual({ exitCode: 1, last: '0 passed, 1 failed' });
});
