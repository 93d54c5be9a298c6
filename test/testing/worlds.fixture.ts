import { afterAll, beforeAll, expect, it } from 'vitest';
import { isClientError } from '../../src/client/errors.js';
import { PaymentOrders } from '../../src/client.js';
import type { OrderInput } from '../../src/contract/order/input-and-result.js';
import type { OrderType } from '../../src/contract/order/types.js';
import { type TestEnding, type TestPaymentOrders, testPaymentOrders } from '../../src/testing.js';
import { clientOn, type Line, openLine } from '../client/line.fixture.js';
import { orderInput } from '../support/inputs.js';
import { type Lab, useLab } from '../support/lab.js';

/** How an order ends: for the double as it is, for the sandbox as a marker. */
export interface Fate {
  marker: string;
  ending: TestEnding;
}

type Options<T extends OrderType> = Omit<Partial<OrderInput<T>>, 'order'> & { fate?: Fate };

/** The library, over the double or over Temporal, worker and sandbox. */
export interface World {
  orders: PaymentOrders;
  /** Makes an input whose order has this fate. Both worlds get the same. */
  input<T extends OrderType>(type: T, orderId: string, options?: Options<T>): OrderInput<T>;
  /** The library without a worker, without Temporal, and with a line that loses answers. */
  withoutWorker(): PaymentOrders;
  withoutTemporal(): Promise<PaymentOrders>;
  withoutAnswers(): Promise<PaymentOrders>;
}

/** What happened: what a call returned, or the library's error that it threw. */
export async function outcomeOf(call: () => Promise<unknown>): Promise<unknown> {
  try {
    return shown(await call());
  } catch (error) {
    if (!isClientError(error)) throw error;
    return { error: error.name, message: withoutWords(error.message), ...(shown({ ...error }) as object) };
  }
}

/** What the service or a test words in its own way. */
const withoutWords = (message: string): string =>
  message
    .replace(/(ended as Order\w+: ).*(\. The id stays|\. Nothing was sent|\. To pay it|\. Find out)/, '$1…$2')
    .replace(/ ?\(?order\/status answers HTTP 400[^.)]*\)?/, '')
    .replace(/(cannot reach Temporal at ).*?(\. It is not known)/, '$1…$2')
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/, 'a time');

/** Figures that depend on commissions and payments, which the double does not have. */
const FIGURES =
  /^(amount_(from|to)_fee|exchange_rate_.*|amount_to|.*_precision|.*_hash|wallet_from|to|balance(Before|After))$/;
/** Words of a person's question, and where a client pays. */
const WORDS = /^(reason|deposit_url|deposit_address|error_message)$/;
const RANDOM = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;
const HASH = /^[0-9a-f]{64}$/;
const TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d/;

/** A value without what differs by chance, by time or by rates. */
export function shown(value: unknown, name = ''): unknown {
  if (value instanceof Date) return 'a time';
  if (FIGURES.test(name)) return 'a figure or none';
  if (typeof value === 'string' && WORDS.test(name)) return 'words';
  if (typeof value === 'string' && RANDOM.test(value)) return 'an id';
  if (typeof value === 'string' && name === 'sent') return value.replace(/order `.*`/, 'order');
  if (typeof value === 'string' && HASH.test(value)) return 'a hash';
  if (typeof value === 'string' && TIME.test(value)) return 'a time';
  if (Array.isArray(value)) return value.map((item) => shown(item));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(entries.map(([key, item]) => [key, shown(item, key)]));
}

type Steps = (world: World) => Record<string, () => Promise<unknown>>;

/** Runs steps one after the other in a world, and returns what each of them brought. */
async function run(world: World, steps: Steps): Promise<Record<string, unknown>> {
  const brought: Record<string, unknown> = {};
  for (const [name, step] of Object.entries(steps(world))) brought[name] = await outcomeOf(step);
  return brought;
}

interface Worlds {
  double: World & { controls: TestPaymentOrders };
  real: World & { lab: Lab };
  /** Defines a case of the contract: the real world must bring `expected`, and the double the same. */
  agrees(name: string, expected: object, steps: Steps): void;
}

/** Sets both worlds up for a test file. `quiet`: nobody else creates orders, so no answer is proven new. */
export function useWorlds({ quiet = false } = {}): Worlds {
  const lab = useLab({ quiet, limits: { caps: new Map([['usd', '1000']]) } });
  const unserved = useLab({ workers: false, callbacks: false });
  const controls = testPaymentOrders();
  const lines: Line[] = [];
  const broken = async (mode: 'cut' | 'deaf'): Promise<PaymentOrders> => {
    const line = await openLine(lab.temporal.address);
    lines.push(line);
    const orders = new PaymentOrders(await clientOn(line, lab.temporal));
    if (mode === 'cut') await line.cut();
    else line.mode = mode;
    return orders;
  };
  afterAll(async () => {
    for (const line of lines) await line.cut();
  });
  const inputOf: World['input'] = (type, orderId, { fate, ...options } = {}) => {
    if (fate) controls.ends(orderId, fate.ending);
    return orderInput(type, orderId, { ...options, ...(fate && { marker: fate.marker }) } as never);
  };
  const faulty = (fault: 'noWorker' | 'unreachable' | 'answersLost'): PaymentOrders => {
    const double = testPaymentOrders();
    double.set({ fault });
    return double.orders;
  };
  const double = {
    orders: controls.orders,
    controls,
    input: inputOf,
    withoutWorker: () => faulty('noWorker'),
    withoutTemporal: async () => faulty('unreachable'),
    withoutAnswers: async () => faulty('answersLost'),
  };
  const real = {
    lab,
    input: inputOf,
    withoutWorker: () => unserved.orders,
    withoutTemporal: () => broken('cut'),
    withoutAnswers: () => broken('deaf'),
  } as World & { lab: Lab };
  beforeAll(async () => {
    real.orders = lab.orders;
    controls.set({ rates: await lab.orders.rates(), balances: await lab.orders.balances() });
  });
  const agrees: Worlds['agrees'] = (name, expected, steps) =>
    it(name, async () => {
      const [ofReal, ofDouble] = await Promise.all([run(real, steps), run(double, steps)]);
      expect(ofReal).toMatchObject(expected);
      expect(ofDouble).toEqual(ofReal);
    });
  return { double, real, agrees };
}
