/**
 * `npm run validate:deploy`: makes every overlay of deploy/kubernetes and validates its objects by
 * published schemas. The first run takes the validators from their registries (Python 3 and npm).
 */
import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { execa } from 'execa';
import { parseAllDocuments } from 'yaml';

const OVERLAYS = fileURLToPath(new URL('../../deploy/kubernetes/overlays/', import.meta.url));
const KUSTOMIZE = 'sigs.k8s.io/kustomize/kustomize/v5@v5.8.1';
/** Strict schemas of Kubernetes itself. */
const BUILT_IN = 'kubernetes-validate==1.37.0';
/** Schemas of other kinds. They find wrong types and missing fields, not unknown ones. */
const MODELS = { 'keda.sh': 'keda@2.0.0', 'monitoring.coreos.com': 'prometheus-operator@6.0.0' };
/** Groups without a published schema; test/deploy checks their form. */
const FORM_ONLY = ['temporal.io'];

interface Made {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
}

const groupOf = ({ apiVersion }: Made): string => apiVersion.split('/')[0] ?? '';
const isModelled = (object: Made): boolean => groupOf(object) in MODELS;
const hasFormOnly = (object: Made): boolean => FORM_ONLY.includes(groupOf(object));

const folder = join(homedir(), '.cache/payment-orders-validators');

/** Installs the validators once a machine. */
async function install(): Promise<void> {
  const done = join(folder, `${[BUILT_IN, ...Object.values(MODELS)].join('_')}.done`);
  if (existsSync(done)) return;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await execa('python3', ['-m', 'venv', join(folder, 'python')]);
  await execa(join(folder, 'python/bin/pip'), ['install', '--quiet', BUILT_IN], { stdio: 'inherit' });
  await writeFile(join(folder, 'package.json'), '{"private":true}');
  const models = Object.values(MODELS).map((name) => `@kubernetes-models/${name}`);
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--silent'];
  await execa('npm', ['install', ...flags, ...models], { cwd: folder, stdio: 'inherit' });
  await writeFile(done, '');
}

/** Returns an overlay's objects as YAML. */
async function made(overlay: string): Promise<string> {
  const own = await execa('kubectl', ['kustomize', join(OVERLAYS, overlay)], { reject: false });
  if (own.code !== 'ENOENT') return own.failed ? Promise.reject(own) : own.stdout;
  return (await execa('go', ['run', KUSTOMIZE, 'build', join(OVERLAYS, overlay)])).stdout;
}

/** Validates an object by its model. Returns what is wrong. */
async function modelProblem(object: Made): Promise<string | undefined> {
  const name = MODELS[groupOf(object) as keyof typeof MODELS].split('@')[0];
  const path = join(folder, `node_modules/@kubernetes-models/${name}/${object.apiVersion}/${object.kind}.js`);
  const models: Record<string, new (object: Made) => { validate(): void }> = await import(pathToFileURL(path).href);
  const Model = models[object.kind];
  if (!Model) return 'the package has no such kind';
  try {
    new Model(object).validate();
  } catch (error) {
    return (error as Error).message;
  }
}

await install();
let failed = false;
for (const overlay of (await readdir(OVERLAYS)).sort()) {
  const objects: Made[] = parseAllDocuments(await made(overlay)).map((document) => document.toJS());
  const builtIn = objects.filter((object) => !isModelled(object) && !hasFormOnly(object));
  const file = join(folder, `${overlay}.yaml`);
  // YAML takes JSON.
  await writeFile(file, builtIn.map((object) => JSON.stringify(object)).join('\n---\n'));
  const strict = await execa(join(folder, 'python/bin/kubernetes-validate'), ['--strict', '--quiet', file], {
    reject: false,
    all: true,
  });
  // A kind without a schema is only warned of.
  if (strict.failed || /WARN/.test(strict.all)) {
    failed = true;
    process.stdout.write(`${strict.all}\n`);
  }
  for (const object of objects.filter(isModelled)) {
    const problem = await modelProblem(object);
    if (problem) failed = true;
    if (problem) process.stdout.write(`${overlay}: ${object.kind} ${object.metadata.name}: ${problem}\n`);
  }
  const formOnly = objects.filter(hasFormOnly).map(({ kind, metadata: { name } }) => `${kind} ${name}`);
  process.stdout.write(
    `${overlay}: ${objects.length} objects, ${builtIn.length} validated strictly, ${objects.filter(isModelled).length} by models` +
      `${formOnly.length > 0 ? `, no schema for ${formOnly.join(', ')}` : ''}\n`,
  );
}
process.exitCode = failed ? 1 : 0;
