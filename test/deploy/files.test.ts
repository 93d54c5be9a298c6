import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { NAMES, settingOf, sourcesOf } from '../../src/config/settings.js';
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
  const known = NAMES.flatMap((name) => (settingOf(name).by.includes(reader) ? sourcesOf(name) : []));
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
    ['api', 'A'],
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
  expect([...new Set(portsOf('payment-orders-worker', 'egress'))]).toEqual([53, 7233, 443]);
  expect([...new Set(portsOf('payment-orders-receiver', 'egress'))]).toEqual([53, 7233]);
  expect([...new Set(portsOf('payment-orders-api', 'egress'))]).toEqual([53, 7233]);
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

interface ComposeService {
  networks: string[];
  cap_drop: string[];
  cap_add?: string[];
  privileged?: boolean;
  security_opt: string[];
  pids_limit: number;
  mem_limit: string;
  ulimits: { core: number };
  ports?: string[];
  environment: Record<string, string>;
}

async function compose() {
  const { services, networks } = parse(await read('compose.yaml'), { merge: true });
  return {
    services: services as Record<string, ComposeService>,
    networks: networks as Record<string, { internal?: boolean; driver_opts?: object }>,
  };
}

test('every container of compose has no capability, no new privilege, no core dump, and limits', async () => {
  for (const [name, service] of Object.entries((await compose()).services)) {
    expect(service, name).toMatchObject({
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      ulimits: { core: 0 },
      pids_limit: expect.any(Number),
      mem_limit: expect.stringMatching(/^\d+[mg]$/),
    });
    expect([service.cap_add, service.privileged], name).toEqual([undefined, undefined]);
    for (const port of service.ports ?? []) expect(port, name).toMatch(/^127\.0\.0\.1:/);
  }
});

test('containers share a network only where docs/trust.md lets one reach the other', async () => {
  const { services, networks } = await compose();
  const reachable = (from: string) =>
    Object.keys(services)
      .filter(
        (to) => to !== from && services[from]?.networks.some((network) => services[to]?.networks.includes(network)),
      )
      .sort();
  expect(reachable('codec')).toEqual([]);
  expect(reachable('postgresql')).toEqual(['temporal', 'temporal-schema']);
  for (const name of ['worker', 'receiver', 'api', 'temporal-ui']) {
    expect(reachable(name)).not.toContain('postgresql');
    expect(reachable(name)).not.toContain('codec');
    expect(reachable(name)).toContain('temporal');
  }
  // What reaches the internet: networks that are neither internal nor doors.
  const open = Object.keys(networks).filter((name) => !networks[name]?.internal && !networks[name]?.driver_opts);
  expect(open).toEqual(['service']);
  const inOpen = Object.entries(services).filter(([, service]) => service.networks.some((name) => open.includes(name)));
  expect(inOpen.map(([name]) => name)).toEqual(['worker']);
  for (const { networks: names, ports } of Object.values(services)) {
    expect(names.every((name) => name in networks)).toBe(true);
    // A published port of an internal network is not reachable.
    if (ports) expect(names.some((name) => !networks[name]?.internal)).toBe(true);
  }
});

test('the Web UI of compose is read-only unless deploy/.env says otherwise', async () => {
  const { services } = await compose();
  const said = services['temporal-ui']?.environment.TEMPORAL_DISABLE_WRITE_ACTIONS;
  expect(said).toMatch(/^\$\{TEMPORAL_UI_READ_ONLY:-true\}$/);
});

const hasSystemd = await execa('systemd-analyze', ['--version'], { reject: false }).then(
  ({ exitCode }) => exitCode === 0,
);

/** What `systemd-analyze security` finds and no unit can have: Node.js compiles code, and all talk over the network. */
const NOT_TO_BE_HAD =
  /^(RootDirectory|MemoryDenyWriteExecute|RestrictAddressFamilies_AF_(INET|UNIX).*|PrivateNetwork|DeviceAllow|IPAddressDeny)/;

for (const name of ['worker', 'receiver', 'api', 'codec']) {
  test(`the unit of the ${name} leaves no core dump and has every protection that Node.js can live with`, async () => {
    const unit = await read(`systemd/payment-orders-${name}.service`);
    for (const line of ['LimitCORE=0', 'PrivateMounts=yes', 'PrivateUsers=yes', 'RemoveIPC=yes', 'ProcSubset=pid']) {
      expect(unit.split('\n'), line).toContain(line);
    }
    expect(unit).toMatch(/^SystemCallFilter=@system-service\nSystemCallFilter=~@privileged @resources$/m);
    if (name === 'codec') expect(unit).toMatch(/^IPAddressDeny=any\nIPAddressAllow=localhost$/m);
  });

  test.skipIf(!hasSystemd)(`systemd-analyze finds nothing more for the unit of the ${name}`, async () => {
    const path = `${DEPLOY}systemd/payment-orders-${name}.service`;
    const { stdout } = await execa('systemd-analyze', ['security', '--offline=yes', '--json=short', path], {
      reject: false,
    });
    const found: { json_field: string; exposure: string | null }[] = JSON.parse(stdout);
    const open = found.filter(({ exposure }) => Number(exposure) > 0).map(({ json_field }) => json_field);
    expect(open.filter((field) => !NOT_TO_BE_HAD.test(field))).toEqual([]);
  });
}
