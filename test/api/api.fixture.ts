import { createHash } from 'node:crypto';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { pino } from 'pino';
import { afterAll, expect } from 'vitest';
import { type ApiOptions, startApi } from '../../src/api/server.js';
import type { PaymentOrders } from '../../src/client.js';
import type { ApiKey, Verb } from '../../src/config.js';

/** An answer of the API. */
export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of any shape
  body: any;
}

/** A key of a caller, as the file of keys would hold it. */
export const apiKey = (
  key: string,
  { verbs = ['start', 'read', 'decide', 'approve'], accounts, maxAmount, name = key }: KeyRights = {},
): ApiKey => ({
  name,
  digest: createHash('sha256').update(key).digest(),
  verbs: new Set(verbs),
  accounts: accounts && new Set(accounts),
  maxAmount: maxAmount && new Map(Object.entries(maxAmount)),
});

interface KeyRights {
  name?: string;
  verbs?: readonly Verb[];
  accounts?: readonly string[];
  maxAmount?: Record<string, string>;
}

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
/** Validators by schema: problems have the same one everywhere. */
const compiled = new Map<string, ValidateFunction>();

/** What of the API's document says how answers look. */
interface ApiDocument {
  components: object;
  paths: Record<
    string,
    Record<string, { responses: Record<number | 'default', { content: Record<string, { schema: object }> }> }>
  >;
}

/** Fails for an answer that is not as the API's own document shows it. */
function requireDocumented(
  { paths, components }: ApiDocument,
  method: string,
  path: string,
  { status, body }: Answer,
): void {
  const [name = ''] = path.split('?');
  const route = Object.keys(paths).find((one) => new RegExp(`^${one.replace(/\{\w+\}/g, '[^/]+')}$`).test(name)) ?? '';
  const responses = paths[route]?.[method.toLowerCase()]?.responses;
  const [{ schema } = {}] = Object.values((responses?.[status] ?? responses?.default)?.content ?? {});
  if (!schema) throw new Error(`${method} ${path}: status ${status} is not documented`);
  const text = JSON.stringify(schema);
  const validate = compiled.get(text) ?? ajv.compile({ ...schema, components });
  compiled.set(text, validate);
  validate(body);
  expect(validate.errors ?? [], `${method} ${path}`).toEqual([]);
}

/** The API on a free port, closed after the tests; `call` sends JSON and reads JSON. */
export async function runApi(orders: PaymentOrders, options: Partial<ApiOptions> = {}) {
  const lines: string[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) });
  const api = await startApi({ host: '127.0.0.1', port: 0, orders, log, requestsPerSecond: 1_000, ...options });
  afterAll(() => api.close());
  const call = async (method: string, path: string, body?: unknown, key?: string): Promise<Answer> => {
    const headers: Record<string, string> = {};
    if (body !== undefined) headers['content-type'] = 'application/json';
    if (key !== undefined) headers.authorization = `Bearer ${key}`;
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const response = await fetch(`${api.url}${path}`, { method, headers, ...(body !== undefined && { body: text }) });
    const answer = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json');
    const read = { status: response.status, headers: response.headers, body: isJson ? JSON.parse(answer) : answer };
    if (path.startsWith('/v1/') && read.body.code !== 'noRoute')
      requireDocumented(await documented, method, path, read);
    return read;
  };
  const documented = fetch(`${api.url}/openapi.json`).then((response) => response.json() as Promise<ApiDocument>);
  return { ...api, call, lines };
}
