import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';

/**
 * Who may import whom. A part is a folder of `src`, or a file there without its ending (`config.ts` and `config/` are one part).
 * `types <part>` allows `import type` only, `lazy <part>` that and `import()`, and a path one file. Whatever is not listed is refused: a new part
 * needs a line here.
 */
const MAY_IMPORT: Record<string, string[]> = {
  // Wire shapes: of the schemas they may know the types only, so that nothing of zod gets into workflow code.
  contract: ['types validation', 'types payment-service', 'types shapes'],
  validation: ['contract'],
  'payment-service': ['contract', 'validation'],
  // What workflows take, show and return, for the contract's types and the published JSON Schemas.
  shapes: ['contract', 'validation', 'payment-service'],
  'batch-files': ['contract', 'validation'],
  reports: ['contract'],
  audit: ['contract'],
  // Workflow code must stay deterministic, so nothing that calls out comes in with it.
  workflows: ['contract', 'types activities'],
  config: ['contract', 'validation', 'types payment-service'],
  temporal: ['contract', 'config'],
  client: ['contract', 'validation', 'temporal', 'types workflows', 'types config'],
  activities: [
    'contract',
    'validation',
    'payment-service',
    'shapes',
    'batch-files',
    'reports',
    'audit',
    'client',
    'temporal',
    'types config',
    'types workflows',
  ],
  // What terminals show: it imports nothing.
  print: [],
  process: ['config', 'temporal', 'print'],
  // The guard of every port that listens.
  'http-port': [],
  monitoring: ['contract', 'http-port', 'client', 'preflight', 'types config'],
  // What is checked before a process starts and while it runs; its accounts are asked for their balances.
  preflight: ['contract', 'validation', 'payment-service', 'temporal', 'config', 'client/accounts'],
  receiver: [
    ...['preflight', 'monitoring', 'http-port', 'contract', 'client', 'temporal', 'config', 'process'],
    'print',
  ],
  api: [
    ...['preflight', 'monitoring', 'http-port', 'contract', 'validation', 'client', 'temporal', 'config', 'process'],
    ...['shapes', 'reports'],
    'print',
  ],
  codec: ['contract', 'http-port', 'temporal', 'config', 'process', 'print'],
  // The workflows as workers run and replay them; it holds no secret.
  bundle: ['contract', 'temporal', 'types config'],
  worker: [
    'preflight',
    'monitoring',
    'contract',
    'validation',
    'audit',
    'activities',
    'payment-service',
    'client',
    'temporal',
    'config',
    'process',
    'print',
    'bundle',
  ],
  // The starter and the library hold no service secret: they cannot even load what uses one, but for `doctor` once it is asked for.
  starter: [
    'contract',
    'validation',
    'reports',
    'audit',
    'client',
    'temporal',
    'config',
    'process',
    'print',
    'bundle',
    'lazy preflight',
  ],
  // The double for unit tests. Of workflows and activities, it takes the rules that need no runtime.
  testing: [
    ...['contract', 'index', 'types client', 'validation/rate-checks'],
    ...['activities/batch/plan/refusals', 'activities/batch/plan/totals', 'activities/batch/rows/count'],
    ...[
      'activities/batch/rows/go-first',
      'activities/batch/rows/halt',
      'activities/order/balances',
      'activities/order/check-findings',
    ],
    ...['activities/order/other-side', 'workflows/batch/rules', 'workflows/compensation/figures'],
    ...['workflows/compensation/moves', 'workflows/compensation/offers', 'workflows/compensation/table'],
    ...['workflows/create/adoption', 'workflows/create/facts', 'workflows/create/next-action'],
    ...['workflows/order/decision', 'workflows/order/marks', 'workflows/order/payment', 'workflows/order/to-know'],
    'types workflows',
  ],
  index: ['contract', 'types validation', 'client', 'types temporal'],
};

/** The only part that may read the environment. */
const READS_ENVIRONMENT = 'config';

/** One source file: its path from the project's root, with forward slashes, and its text. */
export type SourceFile = { path: string; text: string };

/** All TypeScript files of `src` and `sandbox`. */
export function readSources(root: string): SourceFile[] {
  return ['src', 'sandbox'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(folder, name))
      .map((path) => ({ path: path.split(sep).join('/'), text: readFileSync(join(root, path), 'utf8') })),
  );
}

/** One line per import, or reading of the environment, that the table does not allow; empty = all is well. */
export function importViolations(files: SourceFile[]): string[] {
  return files.flatMap(({ path, text }) => {
    const code = withoutComments(text);
    // A local activity of a worker that dies is run again, whatever its retry policy says.
    const local = path.startsWith('src/') && /\bproxyLocalActivities\b/.test(code);
    const environment = path.startsWith('src/') && partOf(path) !== READS_ENVIRONMENT && /\bprocess\.env\b/.test(code);
    return [
      ...importsOf(code).flatMap((found) => refusal(path, found) ?? []),
      ...(local ? [`${path}: uses proxyLocalActivities; no attempt may be repeated unseen`] : []),
      ...(environment ? [`${path}: reads process.env; only src/config may`] : []),
    ];
  });
}

function refusal(path: string, { target: specifier, typeOnly, lazy }: Imported): string | undefined {
  if (!specifier.startsWith('.')) return undefined;
  const target = relative('.', resolve(dirname(path), specifier))
    .split(sep)
    .join('/');
  const root = path.split('/')[0];
  if (!target.startsWith(`${root}/`)) return `${path}: imports ${target}, which is not in ${root}`;
  if (root !== 'src') return undefined;
  const [from, to] = [partOf(path), partOf(target)];
  const allowed = MAY_IMPORT[from];
  if (allowed === undefined) return `${path}: ${from} has no line in scripts/import-directions.ts`;
  const file = target.replace(/^src\/|\.[jt]s$/g, '');
  if (from === to || allowed.includes(to) || allowed.includes(file) || (typeOnly && allowed.includes(`types ${to}`)))
    return undefined;
  if ((typeOnly || lazy) && allowed.includes(`lazy ${to}`)) return undefined;
  return `${path}: ${from} must not import ${typeOnly ? 'types of ' : ''}${to} (${specifier})`;
}

/** src/receiver/server.ts and src/receiver.ts → receiver. */
const partOf = (path: string): string => (path.split('/')[1] ?? '').replace(/\.[jt]s$/, '');

/** Whole-line comments only, so that the `//` of a URL does not hide code. */
const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');

const STATIC_IMPORT = /^\s*(?:import|export)\s(type\s)?(?:[^;'"]*?\sfrom\s*)?['"]([^'"]+)['"]/gm;
const DYNAMIC_IMPORT = /\bimport\(\s*['"]([^'"]+)['"]/g;

interface Imported {
  target: string;
  typeOnly: boolean;
  /** By `import()`, when it is needed. */
  lazy: boolean;
}

function importsOf(code: string): Imported[] {
  const statics = [...code.matchAll(STATIC_IMPORT)];
  return [
    ...statics.map(([, type, target = '']) => ({ target, typeOnly: type !== undefined, lazy: false })),
    ...[...code.matchAll(DYNAMIC_IMPORT)].map(([, target = '']) => ({ target, typeOnly: false, lazy: true })),
  ];
}
