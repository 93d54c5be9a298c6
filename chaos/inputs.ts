import { chance } from '../sandbox/chance.js';
import type { OrderInput } from '../src/contract/order/input-and-result.js';
import { ORDER_TYPES, type OrderType } from '../src/contract/order/types.js';

/** One order as the run asks for it. */
export interface PlannedOrder {
  orderId: string;
  type: OrderType;
  input: OrderInput;
}

const CARDS = ['4111111111111111', '5555555555554444', '4242424242424242', '6011111111111117'] as const;
const TRON = 'TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC';
const ETHEREUM = '0x52908400098527886E0F7030069857D2E4169EE7';
const BITCOIN = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
const IBAN = 'DE89370400440532013000';
const UA_IBAN = 'UA213223130000026007233566001';
const PAYEE_EMAIL = 'erika.mustermann@example.com';
const CLIENT_EMAIL = 'client.of.chaos@example.com';

/** Card numbers, IBANs and e-mails in the inputs: where they may not appear is what the oracle looks for. */
export const PERSONAL_DATA: readonly string[] = [...CARDS, IBAN, UA_IBAN, PAYEE_EMAIL, CLIENT_EMAIL];

const SEPA = { network_to: 'sepa', wallet: IBAN };
const SEPA_DETAILS = { recipient_email: PAYEE_EMAIL, recipient_name: 'Erika Mustermann' };
const UA_DETAILS = { recipient_bank: 'Privat', recipient_name: 'Olena Petrenko', taxpayer_number: '12345678' };

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
    template(
      { currency_from: 'usd', network_from: 'card', currency_to: 'usdt', network_to: 'tron', wallet: TRON },
      CENTS,
    ),
    template(
      { currency_from: 'btc', network_from: 'bitcoin', currency_to: 'uah', network_to: 'card', wallet: CARDS[0] },
      SATOSHI,
    ),
    template(
      { currency_from: 'usdt', network_from: 'tron', currency_to: 'eur', ...SEPA, wallet_details: SEPA_DETAILS },
      CENTS,
      'amount_to',
    ),
  ],
  exchange: [
    template({ currency_from: 'usd', currency_to: 'btc' }, CENTS),
    template({ currency_from: 'btc', currency_to: 'eur' }, SATOSHI),
    template({ currency_from: 'usdt', currency_to: 'eth' }, USDT),
  ],
  exchange_withdraw: [
    template({ currency_from: 'usd', currency_to: 'usdt', network_to: 'tron', wallet: TRON }, CENTS),
    template(
      { currency_from: 'eur', currency_to: 'uah', network_to: 'bank_ua', wallet: UA_IBAN, wallet_details: UA_DETAILS },
      CENTS,
    ),
    template({ currency_from: 'usd', currency_to: 'eur', ...SEPA, wallet_details: SEPA_DETAILS }, CENTS, 'amount_to'),
    template({ currency_from: 'usdt', currency_to: 'eth', network_to: 'ethereum', wallet: ETHEREUM }, USDT),
  ],
  withdraw: [
    template({ currency: 'usd', network: 'card', wallet: CARDS[1] }, CENTS),
    template({ currency: 'eur', network: 'sepa', wallet: IBAN, wallet_details: SEPA_DETAILS }, CENTS),
    template({ currency: 'btc', network: 'bitcoin', wallet: BITCOIN }, SATOSHI),
    template({ currency: 'uah', network: 'card', wallet: CARDS[2] }, HRYVNIA),
    template(
      { currency: 'usd', network: 'bank', wallet: '26007233566001', wallet_details: { bank_code: '322313' } },
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
  const order = {
    ...fields,
    order_id: orderId,
    [amountField]: decimalText(units, decimals),
    ...(fields.network === 'multiple_cards' && { wallet_details: cardParts(units, decimals) }),
    ...(marker && { description: `[sandbox ${marker}]` }),
    ...(draw('client') < 0.3 && { client_info: { client_id: `c-${index}`, client_email: CLIENT_EMAIL } }),
  };
  // A deposit leaves nothing that could be finished.
  const compensation = type === 'deposit' || draw('policy') < 0.5 ? 'report' : 'finish';
  return { orderId, type, input: { order, compensation } as unknown as OrderInput };
}

function pickFrom<T>(all: readonly T[], draw: number): T {
  const picked = all[Math.floor(draw * all.length)];
  if (picked === undefined) throw new RangeError('nothing to pick from');
  return picked;
}

function cardParts(units: bigint, decimals: number) {
  const first = units / 3n;
  return [
    { amount: decimalText(first, decimals), wallet: CARDS[0] },
    { amount: decimalText(units - first, decimals), wallet: CARDS[3] },
  ];
}

/** 1234n with 2 decimals → '12.34'. */
function decimalText(units: bigint, decimals: number): string {
  const digits = units.toString().padStart(decimals + 1, '0');
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}
