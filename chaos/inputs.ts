import { chance } from '../sandbox/chance.js';
import type { OrderInput } from '../src/contract/order/input-and-result.js';
import { ORDER_TYPES, type OrderType } from '../src/contract/order/types.js';
import { type CanaryKind, canary } from './canaries.js';

/** One order as the run asks for it. */
export interface PlannedOrder {
  orderId: string;
  type: OrderType;
  input: OrderInput;
}

/** Brands of the cards that are paid out to, by turns. */
const BRANDS = [
  'a Visa number',
  'a Mastercard number',
  'an American Express number',
  'a Discover number',
  'a JCB number',
  'a UnionPay number',
  'a Maestro number',
] as const satisfies readonly CanaryKind[];

/** Where a field of a template wants a canary of the order. */
class Wanted {
  constructor(readonly kind: CanaryKind | 'a card') {}
}

const a = (kind: CanaryKind | 'a card'): Wanted => new Wanted(kind);

const CARD = { wallet: a('a card') };
const TRON = { wallet: a('a Tron address'), wallet_memo: a('a wallet memo') };
const ETHEREUM = { wallet: a('an Ethereum address') };
const SEPA = {
  network_to: 'sepa',
  wallet: a('a German IBAN'),
  wallet_details: { recipient_email: a("a payee's e-mail"), recipient_name: a('a name with accents and quotes') },
};
const UA_DETAILS = {
  recipient_bank: a('a bank name'),
  recipient_name: a("a payee's name"),
  taxpayer_number: a('a tax number'),
};

/** A request without id and amount; amounts are drawn between `low` and `high`, in units of 10^-decimals. */
interface Template {
  fields: Record<string, unknown>;
  low: number;
  high: number;
  decimals: number;
  /** Exact payouts name `amount_to` instead. */
  amountField?: 'amount_to';
}

const template = (
  fields: Record<string, unknown>,
  [low, high, decimals]: readonly [number, number, number],
  amountField?: 'amount_to',
): Template => ({ fields, low, high, decimals, amountField });

const CENTS = [20_00, 400_00, 2] as const;
const HRYVNIA = [2_000_00, 20_000_00, 2] as const;
const SATOSHI = [200_000, 5_000_000, 8] as const;
const USDT = [20_000_000, 500_000_000, 6] as const;

const TEMPLATES: Readonly<Record<OrderType, readonly Template[]>> = {
  deposit: [
    template({ currency: 'usdt', network: 'tron' }, USDT),
    template({ currency: 'eur', network: 'card' }, CENTS),
    template({ currency: 'btc', network: 'bitcoin' }, SATOSHI),
  ],
  deposit_exchange: [
    template({ currency_from: 'usd', network_from: 'card', currency_to: 'btc' }, CENTS),
    template({ currency_from: 'usdt', network_from: 'ethereum', currency_to: 'usd' }, USDT),
    template({ currency_from: 'uah', network_from: 'card', currency_to: 'eth' }, HRYVNIA),
  ],
  deposit_exchange_withdraw: [
    template({ currency_from: 'usd', network_from: 'card', currency_to: 'usdt', network_to: 'tron', ...TRON }, CENTS),
    template(
      { currency_from: 'btc', network_from: 'bitcoin', currency_to: 'uah', network_to: 'card', ...CARD },
      SATOSHI,
    ),
    template({ currency_from: 'usdt', network_from: 'tron', currency_to: 'eur', ...SEPA }, CENTS, 'amount_to'),
  ],
  exchange: [
    template({ currency_from: 'usd', currency_to: 'btc' }, CENTS),
    template({ currency_from: 'btc', currency_to: 'eur' }, SATOSHI),
    template({ currency_from: 'usdt', currency_to: 'eth' }, USDT),
  ],
  exchange_withdraw: [
    template({ currency_from: 'usd', currency_to: 'usdt', network_to: 'tron', ...TRON }, CENTS),
    template(
      {
        currency_from: 'eur',
        currency_to: 'uah',
        network_to: 'bank_ua',
        wallet: a('a Ukrainian IBAN'),
        wallet_details: UA_DETAILS,
      },
      CENTS,
    ),
    template({ currency_from: 'usd', currency_to: 'eur', ...SEPA }, CENTS, 'amount_to'),
    template({ currency_from: 'usdt', currency_to: 'eth', network_to: 'ethereum', ...ETHEREUM }, USDT),
  ],
  withdraw: [
    template({ currency: 'usd', network: 'card', ...CARD }, CENTS),
    template(
      { currency: 'eur', network: 'sepa', wallet: a('a French IBAN'), wallet_details: SEPA.wallet_details },
      CENTS,
    ),
    template({ currency: 'btc', network: 'bitcoin', wallet: a('a Bitcoin address') }, SATOSHI),
    template({ currency: 'btc', network: 'bitcoin', wallet: a('an old Bitcoin address') }, SATOSHI),
    template({ currency: 'uah', network: 'card', ...CARD }, HRYVNIA),
    template(
      {
        currency: 'usd',
        network: 'bank',
        wallet: a('an account number'),
        wallet_details: { bank_code: a('a bank code') },
      },
      CENTS,
    ),
    template({ currency: 'usd', network: 'multiple_cards', wallet: 'multiple_cards' }, CENTS),
  ],
};

/** Fates that outcomes by rate do not bring: each tenth order has one. */
const MARKERS = [
  'paid=0.9',
  'rate=0.98',
  'outcome=error stage=after-deposit',
  'outcome=error stage=after-exchange',
  'outcome=canceled stage=after-deposit',
  'outcome=completed_partially left=both',
] as const;
const MARKER_RATE = 0.1;

/** The orders of a run; the same seed always plans the same ones. */
export function planOrders(count: number, seed: string): PlannedOrder[] {
  return Array.from({ length: count }, (_, index) => planOrder(index, seed));
}

function planOrder(index: number, seed: string): PlannedOrder {
  const orderId = `chaos-${seed}-${String(index + 1).padStart(5, '0')}`;
  const draw = (what: string) => chance(seed, `${what} ${orderId}`);
  const type = pickFrom(ORDER_TYPES, draw('type'));
  const { fields, low, high, decimals, amountField = 'amount' } = pickFrom(TEMPLATES[type], draw('template'));
  const units = BigInt(low + Math.floor(draw('amount') * (high - low)));
  const marker = draw('marked') < MARKER_RATE ? pickFrom(MARKERS, draw('marker')) : undefined;
  const card = BRANDS[index % BRANDS.length] ?? BRANDS[0];
  const order = {
    ...(filled(fields, orderId, card) as object),
    order_id: orderId,
    [amountField]: decimalText(units, decimals),
    ...(fields.network === 'multiple_cards' && { wallet_details: cardParts(orderId, units, decimals) }),
    ...((marker || draw('words') < 0.5) && { description: descriptionOf(orderId, marker) }),
    ...(draw('client') < 0.5 && { client_info: clientOf(orderId) }),
  };
  // A deposit leaves nothing that could be finished.
  const compensation = type === 'deposit' || draw('policy') < 0.5 ? 'report' : 'finish';
  const revertTo = { network: 'ethereum', wallet: canary('a refund wallet', orderId) };
  const input = { order, compensation, ...(compensation === 'report' && draw('refund') < 0.5 && { revertTo }) };
  return { orderId, type, input: input as unknown as OrderInput };
}

/** The fields of a template with the canaries of an order where it wants them. */
function filled(value: unknown, orderId: string, card: CanaryKind): unknown {
  if (value instanceof Wanted) return canary(value.kind === 'a card' ? card : value.kind, orderId);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, filled(each, orderId, card)]));
}

/** What people write there although nobody asked for it. */
function descriptionOf(orderId: string, marker: string | undefined): string {
  const words = [
    'words of a description',
    'a phone number',
    'a passport number',
    'a card number with hyphens',
    'an IBAN with blanks',
  ] as const;
  const fate = marker ? [`[sandbox ${marker}]`] : [];
  return [...fate, ...words.map((kind) => canary(kind, orderId))].join(', ');
}

const clientOf = (orderId: string) => ({
  client_id: `${canary("a client's id", orderId)} ${canary('a card number with blanks', orderId)}`,
  client_ip: canary("a client's IP address", orderId),
  client_email: canary("a client's e-mail", orderId),
});

function pickFrom<T>(all: readonly T[], draw: number): T {
  const picked = all[Math.floor(draw * all.length)];
  if (picked === undefined) throw new RangeError('nothing to pick from');
  return picked;
}

function cardParts(orderId: string, units: bigint, decimals: number) {
  const first = units / 3n;
  return [
    { amount: decimalText(first, decimals), wallet: canary('a Visa number', orderId) },
    { amount: decimalText(units - first, decimals), wallet: canary('a Discover number', orderId) },
  ];
}

/** 1234n with 2 decimals → '12.34'. */
function decimalText(units: bigint, decimals: number): string {
  const digits = units.toString().padStart(decimals + 1, '0');
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}
