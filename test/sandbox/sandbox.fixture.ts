import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import {
  type BalanceChange,
  type OrderObject,
  type Sandbox,
  type SandboxOptions,
  startSandbox,
} from '../../sandbox/index.js';

/** A list item. */
export type Item = OrderObject & { balance_changes: BalanceChange[] };

/** An answer; `T` is its data, an order unless said otherwise. */
export interface Reply<T = OrderObject> {
  status: number;
  headers: Headers;
  body: { status: string; errors: Record<string, string>; data: T };
}

/** The `data` of the rates operation, as far as tests read it. */
export type Rates = Record<string, Record<string, Payers>>;
/** Who pays which commission of a pair. */
export interface Payers {
  fee_percent_from_payer: string | null;
  fee_percent_to_payer: string | null;
}

/** Starts a sandbox that is closed when the test ends; fast unless told otherwise. */
export async function start(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await startSandbox({ timeScale: 0.02, ...options });
  onTestFinished(() => sandbox.close());
  return sandbox;
}

/** The documented headers for a body. */
export const headersFor = (sandbox: Pick<Sandbox, 'apiKey' | 'apiSecret'>, body: string, algorithm = 'sha256') => ({
  'Content-Type': 'application/json',
  Accept: 'application/json; charset=utf-8',
  'Api-key': sandbox.apiKey,
  Signature: createHmac(algorithm, sandbox.apiSecret).update(body).digest('hex'),
});

/** Posts a body (an object, or text as it is) signed to an operation. Redirects are not followed. */
export async function call<T = OrderObject>(
  sandbox: Pick<Sandbox, 'url' | 'apiKey' | 'apiSecret'>,
  path: string,
  body: unknown = {},
  headers: Record<string, string> = {},
): Promise<Reply<T>> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(`${sandbox.url}/v2/${path}`, {
    method: 'POST',
    redirect: 'manual',
    body: text,
    headers: { ...headersFor(sandbox, text), ...headers },
  });
  const answer = await response.text();
  return { status: response.status, headers: response.headers, body: answer === '' ? undefined : JSON.parse(answer) };
}

/** Asks again until the condition holds. Throws after the timeout. */
export async function until<T>(ask: () => T | Promise<T>, holds: (value: T) => boolean, timeoutMs = 5000): Promise<T> {
  const deadlineMs = Date.now() + timeoutMs;
  for (;;) {
    const value = await ask();
    if (holds(value)) return value;
    if (Date.now() > deadlineMs) throw new Error(`still not after ${timeoutMs} ms: ${JSON.stringify(value)}`);
    await sleep(10);
  }
}

const FINAL = ['completed', 'completed_partially', 'canceled', 'error'];

/** The order's list item once it is final. */
export async function finalItem(sandbox: Sandbox, orderId: string, timeoutMs?: number): Promise<Item> {
  const [item] = await until(
    async () => (await call<Item[]>(sandbox, 'order/list', { order_ids: [orderId] })).body.data,
    ([first]) => first !== undefined && FINAL.includes(first.status),
    timeoutMs,
  );
  if (!item) throw new Error('no such order');
  return item;
}

/** A valid create body of every type. */
export const BODIES = {
  deposit: { currency: 'usd', network: 'card', amount: 100 },
  deposit_exchange: { currency_from: 'usdt', network_from: 'tron', amount: 50.5, currency_to: 'usd' },
  deposit_exchange_withdraw: {
    currency_from: 'btc',
    network_from: 'bitcoin',
    amount: 0.1,
    currency_to: 'uah',
    network_to: 'card',
    wallet: '4111111111111111',
  },
  exchange: { currency_from: 'usd', currency_to: 'btc', amount: 250 },
  exchange_withdraw: {
    currency_from: 'usd',
    amount: 300,
    currency_to: 'eth',
    network_to: 'ethereum',
    wallet: '0x52908400098527886E0F7030069857D2E4169EE7',
  },
  withdraw: { currency: 'uah', network: 'card', wallet: '4111111111111111', amount: 1000 },
} as const;

/** One of the six types. */
export type Type = keyof typeof BODIES;
/** The six types. */
export const TYPES = Object.keys(BODIES) as Type[];

/** Creates an order of a type with changes to the valid body. */
export const create = (sandbox: Sandbox, type: Type, orderId: string, changes: Record<string, unknown> = {}) =>
  call(sandbox, `order/${type}`, { order_id: orderId, ...BODIES[type], ...changes });
