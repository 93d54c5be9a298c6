import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { sourcesOf, VARIABLES, type Variable } from '../../src/config/variables.js';
import { SEARCH_ATTRIBUTES } from '../../src/contract/names.js';

const DEPLOY = fileURLToPath(new URL('../../deploy/', import.meta.url));
const read = (path: string) => readFile(`${DEPLOY}${path}`, 'utf8');

type Container = {
  image: string;
  args: string[];
  securityContext: object;
  resources?: object;
  ports?: { name: string }[];
  readinessProbe?: { httpGet: { path: string; port: string }; timeoutSeconds: number };
  livenessProbe?: { httpGet: { path: string; port: string } };
};
type Named = { kind: string; metadata: { name: string }; data?: Record<string, string> };
type PodSpec = {
  terminationGracePeriodSeconds: number;
  automountServiceAccountToken: boolean;
  securityContext: object;
  containers: Container[];
  initContainers?: Container[];
  volumes: { secret?: { defaultMode: number } }[];
};
type Deployment = Named & { spec: { template: { metadata: { labels: object }; spec: PodSpec } } };

async function objects(): Promise<(Named & { spec?: { selector?: object } })[]> {
  const { resources } = parse(await read('kubernetes/kustomization.yaml'));
  const texts = await Promise.all(resources.map((name: string) => read(`kubernetes/${name}`)));
  return texts.flatMap((text) => parseAllDocuments(text).map((document) => document.toJS()));
}

const deployments = async () => (await objects()).filter(({ kind }) => kind === 'Deployment') as Deployment[];

/** Names of settings that no program knows. */
function unknown(names: readonly string[], reader: string): string[] {
  const known = (Object.keys(VARIABLES) as Variable[]).flatMap((name) =>
    VARIABLES[name].by.includes(reader) ? sourcesOf(name) : [],
  );
  return names.filter((name) => !known.includes(name) && !/^(TEMPORAL_(ADDRESS|NAMESPACE|TLS)|NODE_ENV)$/.test(name));
}

test('every file of Kubernetes is applied, and no two objects of a kind share a name', async () => {
  const files = (await readdir(`${DEPLOY}kubernetes`)).filter((name) => name !== 'kustomization.yaml');
  const { resources } = parse(await read('kubernetes/kustomization.yaml'));
  expect([...resources].sort()).toEqual(files.sort());
  const names = (await objects()).map(({ kind, metadata: { name } }) => `${kind} ${name}`);
  expect(new Set(names).size).toBe(names.length);
});

test('pods are not root, write nowhere but on volumes, end within their grace, and read secrets that are files', async () => {
  const all = await deployments();
  expect(all.map(({ metadata }) => metadata.name)).toEqual(['worker', 'receiver', 'codec']);
  for (const { spec } of all) {
    const pod = spec.template.spec;
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(60);
    expect(pod.automountServiceAccountToken).toBe(false);
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000 });
    expect(pod.volumes.flatMap(({ secret }) => secret?.defaultMode ?? [])).toEqual([0o400]);
    for (const container of [...pod.containers, ...(pod.initContainers ?? [])]) {
      expect(container.image).toBe('payment-orders');
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    }
    const [main] = pod.containers;
    expect(main?.resources).toMatchObject({ limits: { memory: '512Mi' } });
    expect(main?.readinessProbe?.httpGet.path).toBe('/readyz');
    expect(main?.livenessProbe?.httpGet.path).toBe('/healthz');
    expect(main?.readinessProbe?.timeoutSeconds).toBe(5);
    expect(main?.ports?.map(({ name }) => name)).toContain(main?.readinessProbe?.httpGet.port);
  }
});

test('budgets and services select the pods of the deployment that they are named after', async () => {
  const labels = new Map(
    (await deployments()).map(({ metadata, spec }) => [metadata.name, spec.template.metadata.labels]),
  );
  const selecting = (await objects()).filter(({ kind }) => /^(PodDisruptionBudget|Service)$/.test(kind));
  expect(selecting).toHaveLength(5);
  for (const { kind, metadata, spec } of selecting) {
    const selector = spec?.selector as { matchLabels?: object };
    expect(kind === 'Service' ? selector : selector.matchLabels, `${kind} ${metadata.name}`).toEqual(
      labels.get(metadata.name),
    );
  }
});

test('settings of Kubernetes, compose and systemd are such as their programs know', async () => {
  const maps = new Map(
    (await objects()).flatMap(({ kind, metadata, data }) =>
      kind === 'ConfigMap' ? [[metadata.name, data ?? {}]] : [],
    ),
  );
  const { services } = parse(await read('compose.yaml'), { merge: true });
  for (const [name, reader] of [
    ['worker', 'W'],
    ['receiver', 'R'],
    ['codec', 'C'],
  ] as const) {
    const unit = await read(`systemd/payment-orders-${name}.service`);
    const ofUnit = [...unit.matchAll(/^Environment=(\w+)=/gm)].map(([, variable = '']) => variable);
    const ofMaps = Object.keys({ ...maps.get(name), ...(name !== 'codec' && maps.get('temporal')) });
    expect(unknown([...ofMaps, ...ofUnit, ...Object.keys(services[name].environment)], reader), name).toEqual([]);
  }
});

test('the namespace gets the search attributes that the product needs, by their types', async () => {
  const spelt = Object.entries(SEARCH_ATTRIBUTES).map(
    ([name, type]) => `${name} ${type[0]}${type.slice(1).toLowerCase()}`,
  );
  expect((await read('temporal/search-attributes')).trim().split('\n').sort()).toEqual(spelt.sort());
});
