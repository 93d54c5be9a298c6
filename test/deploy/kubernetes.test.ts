import { readdir } from 'node:fs/promises';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { ORDERS_TASK_QUEUE, SERVICE_READ_WORKFLOW } from '../../src/contract/names.js';
import {
  DEPLOY,
  type Deployment,
  deployments,
  FOLDERS,
  kustomization,
  type Manifest,
  mapsOf,
  type Named,
  objects,
  objectsOf,
  read,
} from './kubernetes.fixture.js';

test('every file of Kubernetes is applied, and no two objects of a kind share a name', async () => {
  for (const folder of FOLDERS) {
    const files = await readdir(`${DEPLOY}kubernetes/${folder}`);
    const { resources, configurations = [], patches = [] } = await kustomization(folder);
    const applied = [...resources, ...configurations, ...patches.flatMap(({ path = [] }) => path)];
    const own = applied.filter((name) => name.endsWith('.yaml'));
    expect(own.sort(), folder).toEqual(files.filter((name) => name !== 'kustomization.yaml').sort());
  }
  const names = (await objects()).map(({ kind, metadata: { name } }) => `${kind} ${name}`);
  expect(new Set(names).size).toBe(names.length);
});

test('the image is named by digest, which is to be filled in', async () => {
  for (const folder of FOLDERS) {
    const { images = [] } = await kustomization(folder);
    const digests = folder === 'overlays/production' ? [`sha256:${'0'.repeat(64)}`] : [];
    expect(
      images.map(({ digest }) => digest),
      folder,
    ).toEqual(digests);
    expect(
      images.flatMap(({ newTag = [] }) => newTag),
      folder,
    ).toEqual([]);
  }
});

test('settings are in maps whose names end in a hash, and no secret is in a file', async () => {
  const maps = [...(await mapsOf('overlays/production')).keys()];
  for (const folder of FOLDERS) {
    expect((await kustomization(folder)).generatorOptions, folder).toBe(undefined);
    const kinds = (await objectsOf(folder)).map(({ kind }) => kind);
    expect(
      kinds.filter((kind) => /^(ConfigMap|Secret)$/.test(kind)),
      folder,
    ).toEqual([]);
  }
  for (const { spec } of await deployments()) {
    const named = spec.template.spec.containers.flatMap(({ envFrom = [] }) => envFrom);
    for (const { configMapRef } of named) expect(maps).toContain(configMapRef.name);
  }
});

test('what runs more than once is spread over zones and nodes', async () => {
  for (const { metadata, spec } of await deployments()) {
    const { topologySpreadConstraints: spread = [] } = spec.template.spec;
    const keys = spec.replicas > 1 ? ['topology.kubernetes.io/zone', 'kubernetes.io/hostname'] : [];
    expect(
      spread.map(({ topologyKey }) => topologyKey),
      metadata.name,
    ).toEqual(keys);
    for (const { labelSelector } of spread) expect(labelSelector.matchLabels).toEqual(spec.template.metadata.labels);
  }
});

test('the pod monitor finds every pod with metrics, as the jobs that the alerts name', async () => {
  const monitor = (await objects()).find(({ kind }) => kind === 'PodMonitor');
  const apps = (await deployments())
    .filter(({ spec }) => spec.template.spec.containers[0]?.ports?.some(({ name }) => name === 'metrics'))
    .map(({ spec }) => spec.template.metadata.labels.app);
  expect(monitor?.spec).toEqual({
    jobLabel: 'app',
    selector: { matchExpressions: [{ key: 'app', operator: 'In', values: apps }] },
    podMetricsEndpoints: [{ port: 'metrics', interval: '30s' }],
  });
  const jobs = (await read('monitoring/alerts.yml')).matchAll(/job="([^"]+)"/g);
  for (const [, job] of jobs) expect(apps).toContain(job);
});

test("workers are scaled by the queue of orders, not by those that wait for an account's limit", async () => {
  const [scaled, access] = await objectsOf('overlays/autoscale');
  expect(scaled).toMatchObject({
    kind: 'ScaledObject',
    spec: {
      scaleTargetRef: { name: 'worker' },
      minReplicaCount: 2,
      triggers: [
        {
          type: 'temporal',
          metadata: { taskQueue: ORDERS_TASK_QUEUE, queueTypes: 'workflow,activity', targetQueueSize: '50' },
          authenticationRef: { name: access?.metadata.name },
        },
      ],
    },
  });
});

test('the worker controller changes kind and roll-out of the worker, and a signed read is the gate', async () => {
  const patch = await read('kubernetes/overlays/worker-controller/worker-deployment.yaml');
  const operations: { op: string; path: string; value?: unknown }[] = parse(patch);
  expect(operations.flatMap(({ op, path }) => (op === 'remove' ? path : []))).toEqual([
    '/spec/selector',
    '/spec/strategy',
  ]);
  const values = Object.fromEntries(operations.map(({ path, value }) => [path, value]));
  expect(values).toMatchObject({
    '/apiVersion': 'temporal.io/v1alpha1',
    '/kind': 'WorkerDeployment',
    '/spec/workerOptions': { connectionRef: { name: 'temporal' } },
    '/spec/rollout': { strategy: 'Progressive', gate: { workflowType: SERVICE_READ_WORKFLOW } },
    '/spec/sunset': { scaledownDelay: '1h', deleteDelay: '24h' },
  });
});

const hasKubectl = await execa('kubectl', ['version', '--client'], { reject: false }).then(
  ({ exitCode }) => exitCode === 0,
);

for (const overlay of ['production', 'autoscale', 'worker-controller']) {
  test.skipIf(!hasKubectl)(
    `kustomize makes the overlay ${overlay}, whose pods name hashed maps and a digest`,
    async () => {
      const { stdout } = await execa('kubectl', ['kustomize', `${DEPLOY}kubernetes/overlays/${overlay}`]);
      const made: Manifest[] = parseAllDocuments(stdout).map((document) => document.toJS());
      const maps = made.flatMap(({ kind, metadata }) => (kind === 'ConfigMap' ? metadata.name : []));
      const workloads = made.filter(({ kind }) => /Deployment$/.test(kind)) as Deployment[];
      expect(workloads.map(({ metadata }) => metadata.name).sort()).toEqual(['api', 'codec', 'receiver', 'worker']);
      for (const { spec } of workloads) {
        const { containers, initContainers = [] } = spec.template.spec;
        for (const { image, envFrom = [] } of [...containers, ...initContainers]) {
          expect(image).toMatch(/^registry\.example\/payment-orders@sha256:0{64}$/);
          for (const { configMapRef } of envFrom) {
            expect(configMapRef.name).toMatch(/-[a-z0-9]{10}$/);
            expect(maps).toContain(configMapRef.name);
          }
        }
      }
      expect(stdout.match(/temporal\.example:7233/g)).toHaveLength(overlay === 'production' ? 1 : 2);
    },
  );
}

test('pods are not root, write nowhere but on volumes, end within their grace, and read secrets that are files', async () => {
  const all = await deployments();
  expect(all.map(({ metadata }) => metadata.name)).toEqual(['worker', 'receiver', 'api', 'codec']);
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
  expect(selecting).toHaveLength(7);
  for (const { kind, metadata, spec } of selecting) {
    const selector = spec?.selector as { matchLabels?: object };
    expect(kind === 'Service' ? selector : selector.matchLabels, `${kind} ${metadata.name}`).toEqual(
      labels.get(metadata.name),
    );
  }
});

interface Peer {
  ipBlock?: { cidr: string };
  namespaceSelector?: { matchLabels: Record<string, string> };
}
type Rule = { to?: Peer[]; from?: Peer[]; ports: { protocol: string; port: number | string }[] };
type Policy = Named & {
  spec: {
    podSelector: { matchLabels?: Record<string, string>; matchExpressions?: { key: string; values: string[] }[] };
    policyTypes: string[];
    ingress?: Rule[];
    egress?: Rule[];
  };
};

test('network policies let each pod reach what docs/trust.md says, and nothing else', async () => {
  const policies = (await objects()).filter(({ kind }) => kind === 'NetworkPolicy') as Policy[];
  const denial = policies.find(({ metadata }) => metadata.name === 'nothing-else');
  expect(denial?.spec).toEqual({ podSelector: {}, policyTypes: ['Ingress', 'Egress'] });
  const portsOf = (app: string, way: 'ingress' | 'egress') =>
    policies
      .filter(({ spec }) =>
        [spec.podSelector.matchLabels?.app, ...(spec.podSelector.matchExpressions?.[0]?.values ?? [])].includes(app),
      )
      .flatMap(({ spec }) => spec[way] ?? [])
      .flatMap(({ ports, ...peers }) => {
        // A rule without a peer or a port would let everybody through.
        expect((peers.to ?? peers.from)?.length).toBeGreaterThan(0);
        expect(ports.length).toBeGreaterThan(0);
        return ports.map(({ port }) => port);
      });
  expect([...new Set(portsOf('payment-orders-worker', 'egress'))]).toEqual([53, 7233, 443, 4318]);
  expect([...new Set(portsOf('payment-orders-receiver', 'egress'))]).toEqual([53, 7233]);
  expect([...new Set(portsOf('payment-orders-api', 'egress'))]).toEqual([53, 7233, 4318]);
  expect(portsOf('payment-orders-codec', 'egress')).toEqual([]);
  expect(portsOf('payment-orders-worker', 'ingress')).toEqual(['metrics']);
  expect(portsOf('payment-orders-receiver', 'ingress')).toEqual(['http', 'metrics']);
  expect(portsOf('payment-orders-api', 'ingress')).toEqual(['http', 'metrics']);
  expect(portsOf('payment-orders-codec', 'ingress')).toEqual(['http']);
  for (const { metadata, spec } of policies) {
    const rules = [...(spec.ingress ?? []), ...(spec.egress ?? [])];
    expect(spec.policyTypes, metadata.name).toEqual(
      metadata.name === 'nothing-else' ? ['Ingress', 'Egress'] : [spec.ingress ? 'Ingress' : 'Egress'],
    );
    // Addresses to fill in are those reserved for documentation.
    const blocks = rules
      .flatMap(({ to = [], from = [] }) => [...to, ...from])
      .flatMap(({ ipBlock }) => ipBlock?.cidr ?? []);
    for (const cidr of blocks) expect(cidr).toMatch(/^(192\.0\.2|203\.0\.113|198\.51\.100)\.0\/24$/);
  }
});
