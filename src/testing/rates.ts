import { decimal, divide, toAmount } from '../contract/money.js';
import { factsOf, ORDER_TYPES } from '../contract/order/types.js';
import type { RateEntry, Rates } from '../contract/service-objects.js';

/** Currencies: price in usd, decimal places, and the least and most of one order. */
const CURRENCIES: Record<string, readonly [price: string, places: number, min: string, max: string]> = {
  usd: ['1', 2, '1', '100000'],
  eur: ['1.08', 2, '1', '100000'],
  uah: ['0.0241', 2, '40', '4000000'],
  btc: ['64250', 8, '0.00005', '10'],
  eth: ['3120.5', 18, '0.001', '1000'],
  usdt: ['1', 6, '1', '100000'],
  trx: ['0.1132', 6, '10', '1000000'],
};

const BALANCES = Object.keys(CURRENCIES);
const BOTH = 'usd_card eur_card uah_card eur_sepa btc_bitcoin eth_ethereum usdt_tron usdt_ethereum trx_tron'.split(' ');
const PAYOUTS = [...BOTH, 'usd_bank', 'usd_multiple_cards', 'uah_bank_ua', 'uah_multiple_cards'];

/** An exchange costs half a percent. */
const SPREAD = decimal('0.995');

const NO_FEES = {
  ...{ fixed_fee_amount_from: null, fee_percent_from: null, min_fee_amount_from: null, fee_percent_from_payer: null },
  ...{ fixed_fee_amount_to: null, fee_percent_to: null, min_fee_amount_to: null, fee_percent_to_payer: null },
};

/** Returns a side's currency and network. */
function sideOf(key: string): [currency: string, network: string | null] {
  const [currency = '', ...network] = key.split('_');
  return [currency, network.join('_') || null];
}

function entryOf(type: RateEntry['order_type'], from: string, to: string): RateEntry {
  const [[currency_from, network_from], [currency_to, network_to]] = [sideOf(from), sideOf(to)];
  const [price = '1', currency_from_precision = 0, min_amount_from = '0', max = null] = CURRENCIES[currency_from] ?? [];
  const [priceTo = '1', currency_to_precision = 0] = CURRENCIES[currency_to] ?? [];
  const rate = toAmount(divide(decimal(price).times(SPREAD), decimal(priceTo)).prec(10));
  return {
    ...{ order_type: type, currency_from, network_from, currency_to, network_to },
    exchange_rate: currency_from === currency_to ? null : rate,
    ...{ min_amount_from, max_amount_from: type === 'exchange' ? null : max },
    ...NO_FEES,
    ...{ currency_from_precision, currency_to_precision },
  };
}

/** Pairs, limits and exchange rates of the sandbox, without commissions. */
export const DEFAULT_RATES: Rates = Object.fromEntries(
  ORDER_TYPES.map((type) => {
    const { startsWithDeposit, exchanges, paysOut } = factsOf(type);
    const ways = [startsWithDeposit ? BOTH : BALANCES, paysOut ? PAYOUTS : BALANCES] as const;
    const pairs = ways[0].flatMap((from) => ways[1].map((to) => [from, to] as const));
    const served = pairs.filter(([from, to]) => (sideOf(from)[0] === sideOf(to)[0]) !== exchanges);
    const keyOf = (from: string, to: string) => (exchanges ? `${from}-${to}` : startsWithDeposit ? from : to);
    return [type, Object.fromEntries(served.map(([from, to]) => [keyOf(from, to), entryOf(type, from, to)]))];
  }),
);
