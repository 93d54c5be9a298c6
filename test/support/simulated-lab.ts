import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Front, type FrontRoute, routeFor, UNROUTED } from '../../sandbox/front.js';
import { type Sandbox, sandboxOf } from '../../sandbox/index.js';
import type { Host } from '../../simulator/engine/activity.js';
import { type Converters, Engine } from '../../simulator/engine/engine.js';
import type { WorkflowSandbox } from '../../simulator/engine/sandbox.js';
import { Process } from '../../simulator/process.js';
import { Random } from '../../simulator/random.js';
import { CALLBACK, openService } from '../../simulator/service.js';
import { openWorkflows, startWorker } from '../../simulator/worker.js';
import type { ActivityDeps } from '../../src/activities/index.js';
import { AuditRecord } from '../../src/audit/audit-record.js';
import { type EncryptionMode, encryptionMode, workerConverter } from '../../src/bundle/bundle.js';
import { payloadConverter } from '../../src/bundle/converters.js';
import { PaymentOrders } from '../../src/client.js';
import type { Encryption, WorkerConfig } from '../../src/config.js';
import { DEFAULT_ACCOUNT } from '../../src/contract/names.js';
import { NoAnswerError, NotSentError } from '../../src/payment-service/errors.js';
import type { Transport } from '../../src/payment-service/transport.js';
import { dataConverter, encodedFailures } from '../../src/temporal.js';
import { openAccounts } from '../../src/worker/accounts.js';
import { type Lab, type LabOptions, requestsTo, workerConfigFor } from './lab.js';
import type { ServiceGate } from './service-gate.js';
import { settings } from './simulated.js';
import { encryptedWorkflowBundle, impatientWorkflowBundle, workflowBundle } from './temporal.js';
import { keepBusy, openUngrouped } from './ungrouped.js';

/** Gates of the process by their URL; undefined: shut. */
const gates = new Map<string, ServiceGate | undefined>();

/** Puts a gate in front of labs that find their service at its URL, or shuts it. */
export function listenAt(url: string, gate: ServiceGate | undefined): void {
  gates.set(url, gate);
}

const receivers = new Map<string, ReturnType<typeof openService>['receive']>();

const services = new Map<string, ReturnType<typeof openService>>();

/** Posts to the receiver or the service of a lab, as `fetch` does; undefined if no lab has that address. */
export async function fetchFromLab(input: string | URL, init: RequestInit = {}): Promise<Response | undefined> {
  const url = new URL(input);
  const body = Buffer.from(String(init.body ?? ''));
  const status = await receivers.get(url.origin)?.(url, body);
  if (status !== undefined) return new Response(null, { status });
  const headers = Object.fromEntries(new Headers(init.headers));
  const transport = services.get(url.origin)?.transportOf(ANOTHER_PROGRAM);
  const answer = await transport?.({ url, headers, body, ...UNLIMITED } as never);
  return answer && new Response(answer.body, { status: answer.status });
}

const ANOTHER_PROGRAM = new Process('another program');
const UNLIMITED = { timeoutMs: 60_000, maxBytes: 2 ** 25 };

const codes = new Map<number | EncryptionMode, Promise<WorkflowSandbox>>();

/** The workflows, loaded once for each time after which a person is told, and for each mode of encryption. */
export function codeFor(attentionAfterMs = 0, mode: EncryptionMode = 'off'): Promise<WorkflowSandbox> {
  const which = mode === 'off' ? attentionAfterMs : mode;
  const known = codes.get(which) ?? load(attentionAfterMs, mode);
  codes.set(which, known);
  return known;
}

async function load(attentionAfterMs: number, mode: EncryptionMode): Promise<WorkflowSandbox> {
  if (mode === 'off' && attentionAfterMs) return openWorkflows((await impatientWorkflowBundle(attentionAfterMs)).code);
  const { codePath } = mode === 'off' ? workflowBundle() : await encryptedWorkflowBundle(mode);
  return openWorkflows(await readFile(codePath, 'utf8'));
}

/** Payloads as clients and workers of a configuration read and write them. */
function convertersFor(encryption: Encryption): Converters | undefined {
  if (!encryption.encryptionKeys) return undefined;
  const { payloadCodecs = [] } = workerConverter(encryption);
  const failureConverter = encodedFailures(encryption.encryptionRequired === true);
  return { clients: dataConverter(encryption), workers: { payloadConverter, failureConverter, payloadCodecs } };
}

let labs = 0;

/** What a lab on virtual time has besides. */
export interface SimulatedLab extends Lab {
  engine: Engine;
  /** Another merchant's account at the same service. */
  other: Sandbox;
  /** A host before both accounts. */
  front(routes: readonly FrontRoute[]): Front;
}

/** Hosts before several accounts, by their URL. */
const fronts = new Map<string, readonly FrontRoute[]>();

/** `post`: how events reach their receivers. */
type SimulatedOptions = LabOptions & Pick<ActivityDeps, 'post'>;

/** A lab without sockets and servers, on virtual time. Throws for what only processes and a real Temporal have. */
export async function openSimulatedLab({ post, ...options }: SimulatedOptions): Promise<SimulatedLab> {
  const { pace, callbacks = true, workers = true, limits, quiet = false, groups = false, nowMs = Date.now } = options;
  if (options.temporalAddress) throw new Error('a simulated lab has no server of its own');
  const { encryptionKeys, encryptionRequired } = options;
  const encryption = { ...(encryptionKeys && { encryptionKeys }), ...(encryptionRequired && { encryptionRequired }) };
  // Others may open meanwhile.
  labs += 1;
  settings.labsOfFile += 1;
  const [own, draw] = [labs, settings.labsOfFile];
  const code = await codeFor(options.attentionAfterMs, encryptionMode(encryption));
  const engine = new Engine(code, new Random(draw), undefined, convertersFor(encryption));
  const service = openService(engine, new Random(draw), { timeScale: 0.2, ...options.sandbox });
  const { world, admin } = service.double;
  const close = async () => {
    for (const one of service.doubles) one.stop();
  };
  const serviceUrl = `http://service-${own}.example`;
  const frontUrl = `http://front-${own}.example`;
  const transport = service.transportOf(ANOTHER_PROGRAM);
  services.set(serviceUrl, service);
  const running = { url: serviceUrl, adminUrl: serviceUrl, close };
  const sandbox = { ...sandboxOf(world, admin, running), transport };
  const another = service.doubles[1] ?? service.double;
  const callbackUrl = `http://127.0.0.1:${own}`;
  receivers.set(callbackUrl, service.receive);
  const url = (await options.serviceUrl?.(serviceUrl)) ?? serviceUrl;
  const config: WorkerConfig = {
    ...workerConfigFor({ ...sandbox, url }, pace, undefined, options.account),
    ...limits,
    ...encryption,
    ...(callbacks && { callback: { ...CALLBACK, baseUrl: callbackUrl } }),
    ...(options.receivers && { receivers: new Map(options.receivers.map((one) => [one.name, one])) }),
  };
  const hosts: Host[] = [];
  const startWorkers = async (change: Partial<WorkerConfig> = {}): Promise<void> => {
    const changed = { ...config, ...change };
    const process = new Process(`worker ${hosts.length + 1}`);
    // It may be the service of another lab.
    const transport = through((services.get(new URL(url).origin) ?? service).transportOf(process));
    const accounts = groups
      ? await openAccounts(changed.accounts, transport)
      : await openUngrouped(changed.accounts, { quiet, nowMs }, transport);
    if (groups && !quiet) for (const account of accounts.values()) keepBusy(account, nowMs);
    const audit = changed.auditDir && { audit: await AuditRecord.open(changed.auditDir, () => undefined) };
    hosts.push(await startWorker(engine, changed, accounts, process, { nowMs, ...(post && { post }), ...audit }));
  };
  /** Nothing is given to them any more; what they have in hand, they end. */
  const stopWorkers = async (): Promise<void> => {
    for (const host of hosts.splice(0)) {
      engine.hosts.splice(engine.hosts.indexOf(host), 1);
      const inHand = () =>
        [...engine.runs.values()]
          .flat()
          .flatMap(({ attempts }) => [...attempts.open.values()])
          .filter((one) => one.host === host);
      for (const one of inHand()) one.shutDown?.();
      while (inHand().length > 0) await sleep(50);
    }
  };
  if (workers) await startWorkers();
  return {
    ...{ engine, sandbox, config, startWorkers, stopWorkers },
    orders: new PaymentOrders(engine.client),
    temporal: {
      ...{ address: 'simulated', namespace: 'default', client: engine.client, close: async () => undefined },
      nativeConnection: undefined as never,
    },
    events: async (orderId) => engine.newest(`order:${DEFAULT_ACCOUNT}:${orderId}`)?.history.length ?? 0,
    requestsOf: requestsTo(sandbox),
    replaceWorkers: async (change) => {
      await stopWorkers();
      await startWorkers(change);
    },
    other: sandboxOf(another.world, another.admin, running),
    front(routes) {
      fronts.set(frontUrl, routes);
      return { url: frontUrl, close: async () => void fronts.delete(frontUrl) };
    },
    close: async () => {
      await stopWorkers();
      engine.rest();
      await close();
    },
  };
}

/** Through the gate at whose URL a worker finds its service, if there is one. */
const through =
  (transport: Transport): Transport =>
  async (request) => {
    const { origin } = request.url;
    const routes = fronts.get(origin);
    if (routes) return atFront(routes, request, transport);
    const gate = gates.get(origin);
    if (!gate && gates.has(origin)) throw new NotSentError('ECONNREFUSED');
    if (!gate) return transport(request);
    const { pathname } = request.url;
    const forward = async () => {
      const { status, headers, body } = await transport({ ...request, beforeSend: undefined });
      return { status, headers: headers as Record<string, string>, body: body.toString() };
    };
    const asked = async () => {
      // A gate sees only what is sent.
      await request.beforeSend?.();
      return gate.answer(pathname, request.body.toString(), forward);
    };
    const limit = AbortSignal.timeout(request.timeoutMs);
    const isOver = new Promise<never>((_, reject) => {
      const end = () => reject(new NoAnswerError(limit.aborted ? 'timeout' : 'aborted'));
      for (const signal of [limit, request.signal]) signal?.addEventListener('abort', end, { once: true });
    });
    const { status, headers = {}, body = '' } = await Promise.race([asked(), isOver]);
    const shown = status === 200 || status === 400 || status === 404 ? Buffer.from(body) : Buffer.alloc(0);
    return { status, headers: { date: new Date().toUTCString(), ...headers }, body: shown };
  };

/** As a front forwards requests, by their path and key. */
const atFront: (
  routes: readonly FrontRoute[],
  request: Parameters<Transport>[0],
  transport: Transport,
) => ReturnType<Transport> = async (routes, request, transport) => {
  const { url, headers } = request;
  const route = routeFor(routes, url.pathname, headers['Api-key']);
  if (typeof route === 'number') return { status: route, headers: {}, body: Buffer.from(UNROUTED) };
  const there = new URL(url.pathname.slice(route.path.length), url);
  return transport({ ...request, url: there, headers: { ...headers, 'Api-key': route.sandbox.apiKey } });
};
