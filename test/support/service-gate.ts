import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Sandbox } from '../../sandbox/index.js';
import { settings } from './simulated.js';

/** One request as it reached the gate; `atMs` on the clock of the test. `status` 0: it was not answered. */
export interface GateRequest {
  atMs: number;
  path: string;
  orderId: string | undefined;
  /** The request's JSON as sent. */
  body: string;
  status: number;
}

/** What the gate answers instead of the service. */
export interface GateAnswer {
  status: number;
  headers?: Record<string, string>;
  body?: string;
}

/** Returns the answer of a list that shows entries on its first page, and none on further ones. */
export function listAnswer(requestBody: string, entries: readonly object[]): GateAnswer {
  const { page = 1 } = JSON.parse(requestBody) as { page?: number };
  return { status: 200, body: JSON.stringify({ status: 'success', data: page > 1 ? [] : entries }) };
}

/** The list that shows these orders, as far as it was asked for them. */
export function listOf(body: string, shown: ReturnType<Sandbox['orders']>): GateAnswer {
  const { order_ids: asked = [] } = JSON.parse(body) as { order_ids?: string[] };
  const items = shown.filter(({ order }) => asked.includes(order.user_order_id));
  return listAnswer(
    body,
    items.map(({ order }) => ({ ...order, balance_changes: [] })),
  );
}

/** Decides about one request: an answer of its own, or undefined to let the service answer. */
export type GateRule = (
  request: Omit<GateRequest, 'status'>,
) => GateAnswer | undefined | Promise<GateAnswer | undefined>;

/**
 * Stands between worker and sandbox, on the clock of the test. Real HTTP on both sides, but for labs on virtual time; what it
 * lets through it does not change.
 */
export class ServiceGate {
  readonly requests: GateRequest[] = [];
  /** Asked about every request; replace it at any time. */
  rule: GateRule = () => undefined;
  readonly #serviceUrl: string;
  readonly #creates = new Map<string, { body: string; shownUntilMs: number }>();
  readonly #orderIds = new Map<string, string>();
  #server?: Server;
  #port = 0;

  constructor(serviceUrl = '') {
    this.#serviceUrl = serviceUrl;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Listens, always on the same port. */
  async open(): Promise<void> {
    if (settings.isSimulated) {
      this.#port ||= nextPort();
      (await import('./simulated-lab.js')).listenAt(this.url, this);
      return;
    }
    const server = createServer((incoming, response) => {
      this.#answer(incoming, response).catch(() => response.destroy());
    });
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  /** Connections are refused until it is opened again. */
  async shut(): Promise<void> {
    if (settings.isSimulated) return (await import('./simulated-lab.js')).listenAt(this.url, undefined);
    this.#server?.closeAllConnections();
    await new Promise((resolve) => this.#server?.close(resolve));
  }

  /** Status look-ups show the order as its create answered until then: a replica that lags behind. */
  showAsCreated(orderId: string, untilMs: number): void {
    this.#creates.set(orderId, { body: this.#creates.get(orderId)?.body ?? '', shownUntilMs: untilMs });
  }

  /** Requests about an order, oldest first, optionally of one operation (`status`, `list`, or `create`). */
  about(orderId: string, operation?: 'create' | 'status' | 'list'): GateRequest[] {
    return this.requests.filter((r) => r.orderId === orderId && (!operation || operationOf(r.path) === operation));
  }

  /** Every order id that was asked about by itself or created. */
  orderIds(): string[] {
    const aboutOne = this.requests.filter(({ body }) => !/"order_ids":\["[^"]*",/.test(body));
    return [...new Set(aboutOne.flatMap(({ orderId }) => orderId ?? []))];
  }

  /** Answers one request, by the rule or by what `forward` gets from the service. */
  async answer(path: string, body: string, forward: () => Promise<GateAnswer>): Promise<GateAnswer> {
    const entry = { atMs: Date.now(), path, orderId: this.#orderIdOf(body), body, status: 0 };
    this.requests.push(entry);
    const answer = (await this.rule(entry)) ?? this.#snapshot(entry) ?? (await forward());
    entry.status = answer.status;
    if (operationOf(path) === 'create' && answer.status === 200) this.#keepCreate(entry.orderId, answer.body ?? '');
    return answer;
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readAll(incoming);
    const answer = await this.answer(incoming.url ?? '', body, () => this.#forward(incoming, body));
    response.writeHead(answer.status, answer.headers).end(answer.body);
  }

  #snapshot({ path, orderId = '', atMs }: GateRequest): GateAnswer | undefined {
    const create = this.#creates.get(orderId);
    if (!create?.body || operationOf(path) !== 'status' || atMs >= create.shownUntilMs) return undefined;
    return { status: 200, headers: { 'content-type': 'application/json' }, body: create.body };
  }

  async #forward(incoming: IncomingMessage, body: string): Promise<GateAnswer> {
    const headers = ['content-type', 'accept', 'api-key', 'signature'].map((name): [string, string] => [
      name,
      String(incoming.headers[name]),
    ]);
    const url = `${this.#serviceUrl}${incoming.url}`;
    const answer = await fetch(url, { method: 'POST', headers, body, redirect: 'manual' });
    const kept = ['content-type', 'retry-after', 'location'].flatMap((name) => {
      const value = answer.headers.get(name);
      return value === null ? [] : [[name, value]];
    });
    return { status: answer.status, headers: Object.fromEntries(kept), body: await answer.text() };
  }

  #keepCreate(orderId: string | undefined, body: string): void {
    if (orderId === undefined) return;
    this.#creates.set(orderId, { body, shownUntilMs: this.#creates.get(orderId)?.shownUntilMs ?? 0 });
    const uuid = /"order_uuid":"([^"]+)"/.exec(body)?.[1];
    if (uuid) this.#orderIds.set(uuid, orderId);
  }

  #orderIdOf(body: string): string | undefined {
    const { order_id, order_ids, order_uuid } = JSON.parse(body) as Record<string, unknown>;
    const id = order_id ?? (Array.isArray(order_ids) ? order_ids[0] : undefined);
    return typeof id === 'string' ? id : this.#orderIds.get(String(order_uuid));
  }
}

let ports = 1_000;

/** A port that nobody listens on. */
function nextPort(): number {
  ports += 1;
  return ports;
}

/** An open gate in front of a service, in real time. */
export async function openGate(serviceUrl: string, rule?: GateRule): Promise<ServiceGate> {
  const gate = new ServiceGate(serviceUrl);
  if (rule) gate.rule = rule;
  await gate.open();
  return gate;
}

/** `create`, `status` or `list` for the operations about orders; otherwise the path's last part. */
export function operationOf(path: string): string {
  const [, rest = ''] = /\/v2\/order\/(.+)$/.exec(path) ?? [];
  if (rest === '') return path.split('/').at(-1) ?? path;
  return rest === 'status' || rest === 'list' ? rest : 'create';
}

async function readAll(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
