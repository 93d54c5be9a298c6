import { execa } from 'execa';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { NAMES, settingOf, sourcesOf } from '../../src/config/settings.js';
import { SEARCH_ATTRIBUTES } from '../../src/contract/names.js';
import { DEPLOY, mapsOf, read } from './kubernetes.fixture.js';

/** Names of settings that no program knows. */
function unknown(names: readonly string[], reader: string): string[] {
  const known = NAMES.flatMap((name) => (settingOf(name).by.includes(reader) ? sourcesOf(name) : []));
  return names.filter((name) => !known.includes(name) && !/^(TEMPORAL_(ADDRESS|NAMESPACE|TLS)|NODE_ENV)$/.test(name));
}

test('settings of Kubernetes, compose and systemd are such as their programs know', async () => {
  const maps = await mapsOf('overlays/worker-controller');
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

test('batch files and audit files have a volume of their own each, and those of one leave room for the other', async () => {
  const { services } = parse(await read('compose.yaml'), { merge: true });
  const pods = [...parseAllDocuments(await read('kubernetes/base/worker.yaml'))].map((document) => document.toJS());
  const [{ volumeMounts }] = pods.find(({ kind }) => kind === 'Deployment').spec.template.spec.containers;
  const inCompose = (services.worker.volumes as string[]).map((volume) => volume.split(':') as [string, string]);
  const inPods = (volumeMounts as { name: string; mountPath: string }[]).map(
    ({ name, mountPath }): [string, string] => [name, mountPath],
  );
  const maps = (await mapsOf('overlays/production')).get('worker') ?? {};
  for (const [volumes, settings] of [
    [inCompose, services.worker.environment],
    [inPods, maps],
  ] as const) {
    const volumeOf = (folder: string) => volumes.find(([, path]) => `${folder}/`.startsWith(`${path}/`))?.[0];
    const [batches, audit] = [volumeOf(settings.BATCH_DIR), volumeOf(settings.AUDIT_DIR)];
    expect([batches, audit]).toEqual(['batches', 'audit']);
  }
});

test('the command line of the runbook takes nothing plain where the units do not', async () => {
  const [systemd = ''] = (await read('../docs/runbook.md')).split('\n').filter((line) => line.includes('systemd-run'));
  for (const setting of (await read('systemd/payment-orders-worker.service')).matchAll(/PAYLOAD_ENCRYPTION=\w+/g)) {
    expect(systemd).toContain(setting[0]);
  }
});

test('the namespace gets the search attributes that the product needs, by their types', async () => {
  const spelt = Object.entries(SEARCH_ATTRIBUTES).map(
    ([name, type]) => `${name} ${type[0]}${type.slice(1).toLowerCase()}`,
  );
  expect((await read('temporal/search-attributes')).trim().split('\n').sort()).toEqual(spelt.sort());
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
  profiles?: string[];
  volumes?: string[];
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

test('the monitoring of compose runs if asked for, scrapes what the alerts name, and shows the dashboard to all, changes to none', async () => {
  const { services } = await compose();
  const monitoring = Object.entries(services).filter(([, { profiles = [] }]) => profiles.includes('monitoring'));
  expect(monitoring.map(([name]) => name)).toEqual(['prometheus', 'grafana', 'otel-collector']);
  for (const [, { volumes = [] }] of monitoring) {
    for (const [, path] of volumes.join(' ').matchAll(/\.\/(\S+?):/g)) expect(await read(`${path}`)).not.toBe('');
  }
  const { rule_files, scrape_configs } = parse(await read('monitoring/prometheus.yml'));
  expect(rule_files).toEqual(['alerts.yml']);
  for (const { job_name: job, dns_sd_configs } of scrape_configs) {
    const name = job.replace('payment-orders-', '');
    const { networks, environment } = services[name] as ComposeService;
    expect(networks).toContain('metrics');
    expect(dns_sd_configs).toMatchObject([{ names: [name], port: Number(environment.METRICS_ADDRESS?.split(':')[1]) }]);
  }
  const { environment, volumes } = services.grafana as ComposeService;
  expect(environment).toMatchObject({
    GF_AUTH_ANONYMOUS_ORG_ROLE: 'Viewer',
    GF_AUTH_DISABLE_LOGIN_FORM: 'true',
    GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION: 'true',
  });
  const [{ options }] = parse(await read('monitoring/grafana/dashboards.yaml')).providers;
  expect(volumes).toContain(`./monitoring/dashboard.json:${options.path}/payment-orders.json:ro`);
  const [{ type, url }] = parse(await read('monitoring/grafana/prometheus.yaml')).datasources;
  expect([type, url]).toEqual(['prometheus', 'http://prometheus:9090']);
  const { receivers, service } = parse(await read('monitoring/collector.yaml'));
  expect(await read('worker.env.example')).toContain(
    `http://otel-collector:${receivers.otlp.protocols.http.endpoint.split(':')[1]}`,
  );
  expect(service.pipelines.traces.receivers).toEqual(['otlp']);
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
