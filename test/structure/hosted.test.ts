import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): Promise<string> => readFile(join(root, path), 'utf8');
const readJson = async (path: string) => JSON.parse(await read(path));

type Step = { name?: string; uses?: string; run?: string; with?: Record<string, unknown> };
type Job = {
  permissions?: Record<string, string>;
  'timeout-minutes'?: number;
  needs?: string | string[];
  strategy?: { matrix: { node?: number[]; include?: { name: string; run: string }[] } };
  steps: Step[];
};
type Workflow = { on: object; permissions: unknown; jobs: Record<string, Job> };

const FOLDER = '.github/workflows';
const texts = new Map<string, string>();
for (const name of await readdir(join(root, FOLDER))) texts.set(name, await read(join(FOLDER, name)));
const workflows = new Map([...texts].map(([name, text]): [string, Workflow] => [name, parse(text)]));
const jobs = [...workflows].flatMap(([file, workflow]) =>
  Object.entries(workflow.jobs).map(([name, job]) => ({ file, name, job })),
);

/** Every command of a workflow, those of its matrix included. */
const commandsOf = ({ jobs }: Workflow): string[] =>
  Object.values(jobs).flatMap(({ steps, strategy }) => [
    ...steps.flatMap(({ run }) => run ?? []),
    ...(strategy?.matrix.include ?? []).map(({ run }) => run),
  ]);

test('there are the workflows of a change, a night, a week and a release', () => {
  expect([...workflows.keys()].sort()).toEqual(['ci.yml', 'nightly.yml', 'release.yml', 'weekly.yml']);
});

test('no workflow may write, but for the job that publishes, which runs no code of a dependency', () => {
  for (const [name, { on, permissions }] of workflows) {
    expect(permissions, name).toEqual({ contents: 'read' });
    // It would give a stranger's code the rights of the repository.
    expect(Object.keys(on), name).not.toContain('pull_request_target');
  }
  const withRights = jobs.filter(({ job }) => job.permissions !== undefined);
  expect(withRights.map(({ file, name, job }) => [file, name, job.permissions])).toEqual([
    ['release.yml', 'night', { actions: 'read' }],
    ['release.yml', 'publish', { contents: 'write', 'id-token': 'write' }],
  ]);
  const publish = workflows.get('release.yml')?.jobs.publish;
  const commands = publish?.steps.flatMap(({ run }) => run ?? []).join('\n');
  expect(commands).toMatch(/npm publish .*--ignore-scripts --provenance/);
  expect(commands).not.toMatch(/npm (ci|install|run|test)|npx|\.ci\/run/);
  expect(publish?.steps.flatMap(({ uses }) => uses ?? []).join('\n')).not.toContain('checkout');
});

test('every action is pinned by its commit, and a check-out leaves no token behind', () => {
  for (const [name, text] of texts) {
    const used = [...text.matchAll(/uses: (.*)$/gm)].map(([, action = '']) => action);
    expect(used.length, name).toBeGreaterThan(1);
    for (const action of used) expect(action, name).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  }
  const pins = [...texts.values()].flatMap((text) => text.match(/[\w-]+\/[\w-]+@.*$/gm) ?? []);
  // One commit per action, so that an update is one change.
  expect(new Set(pins).size).toBe(new Set(pins.map((pin) => pin.split('@')[0])).size);
  const checkouts = jobs.flatMap(({ job }) => job.steps).filter(({ uses }) => uses?.startsWith('actions/checkout@'));
  for (const step of checkouts) expect(step.with).toMatchObject({ 'persist-credentials': false });
});

test('every job ends by itself, waits for one that exists, and each of its steps does one thing', () => {
  for (const { file, name, job } of jobs) {
    expect(job['timeout-minutes'], `${file} ${name}`).toBeGreaterThan(0);
    const all = Object.keys(workflows.get(file)?.jobs ?? {});
    for (const needed of [job.needs ?? []].flat()) expect(all).toContain(needed);
    for (const { uses, run } of job.steps) expect([uses, run].filter(Boolean), `${file} ${name}`).toHaveLength(1);
  }
});

test('workflows call only npm scripts that exist, and put no text of an event into a command', async () => {
  const { scripts } = await readJson('package.json');
  for (const [name, workflow] of workflows) {
    const commands = commandsOf(workflow).join('\n');
    const called = [...commands.matchAll(/npm (?:run (?:-\S+ )*([\w:-]+)|(test)\b)/g)].map(
      ([, run, own]) => run ?? own,
    );
    for (const script of called) expect(Object.keys(scripts), name).toContain(script);
    for (const [, expression] of commands.matchAll(/\$\{\{ (.*?) \}\}/g)) expect(expression).toMatch(/^matrix\.\w+$/);
  }
  const commandsIn = (name: string) => commandsOf(workflows.get(name) as Workflow);
  expect(commandsIn('ci.yml')).toEqual(['.ci/run', 'npm run validate:deploy', 'npm run api-docs']);
  expect(commandsIn('nightly.yml')).toContain('npm run nightly');
  expect(commandsIn('nightly.yml').filter((run) => run.startsWith('npm run chaos -- --orders 300'))).toHaveLength(3);
  expect(commandsIn('weekly.yml').filter((run) => run.startsWith('npm run soak -- --hours 2'))).toHaveLength(1);
  expect(commandsIn('weekly.yml')).toContain('npm run mutants');
  expect(workflows.get('weekly.yml')?.on).toMatchObject({
    schedule: [{ cron: expect.stringMatching(/^\d+ \d+ \* \* \d$/) }],
  });
  expect(commandsIn('release.yml')).toEqual(
    expect.arrayContaining([
      '.ci/run',
      'npm audit signatures',
      'npm run --silent version -- --notes >release/notes.md',
    ]),
  );
});

/** Runs a command of the shell in which a program is this script; returns its exit code and the program's calls. */
async function runWith(program: string, script: string, command: string) {
  const folder = await mkdtemp(join(tmpdir(), 'hosted-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, program);
  await writeFile(file, `#!/bin/sh\necho "$*" >>${file}.calls\n${script}\n`);
  await chmod(file, 0o755);
  const { exitCode } = await execa('sh', ['-c', command], {
    env: { PATH: `${folder}:${process.env.PATH}`, GITHUB_REPOSITORY: 'o/r', GITHUB_SHA: 'abc' },
    reject: false,
  });
  return { exitCode, calls: (await readFile(`${file}.calls`, 'utf8')).trim().split('\n') };
}

describe('npm run nightly', () => {
  test.for([
    ['tests', 'case "$1" in test) exit 1;; esac', 1],
    ['chaos', 'case "$2" in chaos) exit 1;; esac', 1],
    ['nothing', '', 0],
  ] as const)('runs the tests and chaos, and is red if one of them is: %s', async ([, script, exitCode]) => {
    const { scripts } = await readJson('package.json');
    expect(await runWith('npm', script, scripts.nightly)).toEqual({
      exitCode,
      calls: [
        'test -- --project sandbox --project nightly --project reliability --project measured',
        'run chaos -- --orders 300 --seed 1',
      ],
    });
  });
});

describe('a release', () => {
  const release = workflows.get('release.yml')?.jobs;

  test('packs and publishes only after its tests and a night', () => {
    expect([release?.pack?.needs, release?.publish?.needs]).toEqual([['night', 'check'], 'pack']);
  });

  test.for([
    ['a green night of its commit', 'echo 1', true],
    ['none', 'echo 0', false],
    ['no answer', 'exit 1', false],
  ] as const)('is refused without a green night of its commit: %s', async ([, script, isAllowed]) => {
    const [step] = release?.night?.steps ?? [];
    const { exitCode, calls } = await runWith('gh', script, step?.run ?? '');
    expect(exitCode === 0).toBe(isAllowed);
    expect(calls).toEqual([
      'run list --repo o/r --workflow nightly.yml --commit abc --status success --limit 1 --json databaseId --jq length',
    ]);
  });

  test('no job of a night is left out on some days, so that a green one means all of them', () => {
    expect(texts.get('nightly.yml')).not.toMatch(/^ +if: .*event/m);
  });
});

test('CI runs on the floor of package.json, and one version of Node is that of developers, nights and the image', async () => {
  const { engines, packageManager } = await readJson('package.json');
  const nodes = workflows.get('ci.yml')?.jobs.run?.strategy?.matrix.node ?? [];
  expect(Math.min(...nodes)).toBe(Number(/^\^(\d+)/.exec(engines.node)?.[1]));
  expect(packageManager).toMatch(/^npm@\d+\.\d+\.\d+$/);
  const major = Number(await read('.nvmrc'));
  expect(nodes).toContain(major);
  expect((await readJson('.devcontainer/devcontainer.json')).image).toMatch(new RegExp(`^node:${major}-`));
  expect(await read('deploy/Dockerfile')).toMatch(new RegExp(`^FROM node:${major}-`, 'm'));
  const setups = jobs.flatMap(({ job }) => job.steps).filter(({ uses }) => uses?.startsWith('actions/setup-node@'));
  for (const { with: given } of setups) {
    const version = given?.['node-version-file'] ?? given?.['node-version'];
    expect(String(version)).toMatch(new RegExp(`^(\\.nvmrc|${major}|\\$\\{\\{ matrix\\.node \\}\\})$`));
  }
});

test('issue forms ask for no secret, and warn of it', async () => {
  const names = (await readdir(join(root, '.github/ISSUE_TEMPLATE'))).filter((name) => name !== 'config.yml');
  expect(names.sort()).toEqual(['fault.yml', 'feature.yml']);
  for (const name of names) {
    const form = parse(await read(join('.github/ISSUE_TEMPLATE', name)));
    expect(Object.keys(form), name).toEqual(['name', 'description', 'labels', 'body']);
    const [first, ...fields] = form.body as { type: string; id?: string; attributes: Record<string, unknown> }[];
    expect(first?.type).toBe('markdown');
    expect(first?.attributes.value).toMatch(/Never post keys.*wallets.*payees/s);
    for (const { type, id, attributes } of fields) {
      expect(['input', 'textarea', 'checkboxes'], name).toContain(type);
      expect([id, attributes.label], name).toEqual([expect.any(String), expect.any(String)]);
    }
    expect(new Set(fields.map(({ id }) => id)).size).toBe(fields.length);
  }
  expect(parse(await read('.github/ISSUE_TEMPLATE/config.yml'))).toEqual({ blank_issues_enabled: false });
});

test('.editorconfig formats as biome.json does, and leaves alone whose bytes are the test', async () => {
  const config = await read('.editorconfig');
  const { formatter } = await readJson('biome.json');
  expect(config).toContain(`indent_style = ${formatter.indentStyle}\n`);
  expect(config).toContain(`indent_size = ${formatter.indentWidth}\n`);
  expect(config).toContain(`max_line_length = ${formatter.lineWidth}\n`);
  const kept = [...(await read('.gitattributes')).matchAll(/^(\S+)\/\* -text$/gm)].map(([, folder = '']) => folder);
  expect(kept.length).toBeGreaterThan(0);
  for (const folder of kept) expect(/^\[\{(.*)\}\/\*\*\]$/m.exec(config)?.[1]?.split(',')).toContain(folder);
});

test('owners and updates are named by paths and packages that exist', async () => {
  const owned = [...(await read('.github/CODEOWNERS')).matchAll(/^\/(\S+)\/(?: |$)/gm)].map(([, path = '']) => path);
  expect(owned.length).toBeGreaterThan(5);
  for (const path of owned) expect((await readdir(join(root, path))).length, path).toBeGreaterThan(0);
  const { dependencies, devDependencies, peerDependencies, overrides } = await readJson('package.json');
  const packages = Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies, ...overrides });
  const { packageRules } = await readJson('renovate.json');
  const named = packageRules.flatMap((rule: { matchPackageNames: string[] }) => rule.matchPackageNames);
  for (const name of named) {
    expect(
      packages.some((one) => (name.endsWith('/**') ? one.startsWith(name.slice(0, -2)) : one === name)),
      name,
    ).toBe(true);
  }
});
