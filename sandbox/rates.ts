import { decimal, roundDown, text } from './money.js';

/** The six order types. */
export const ORDER_TYPES = [
  'deposit',
  'deposit_exchange',
  'deposit_exchange_withdraw',
  'exchange',
  'exchange_withdraw',
  'withdraw',
] as const;

/** One of the six order types. */
export type OrderType = (typeof ORDER_TYPES)[number];

/** Who may pay a commission. */
export const PAYERS = ['merchant', 'client'] as const;

/** One commission: fixed + the larger of percent and min. `merchant` pays it from the balance, `client` out of the amount. */
export interface Fee {
  fixed: string;
  percent: string;
  min: string;
  payer: (typeof PAYERS)[number];
}

/** The terms of a pair: what an order of a type costs and how it is limited. Amounts are decimal strings. */
export interface Terms {
  orderType: OrderType;
  currencyFrom: string;
  networkFrom: string | null;
  currencyTo: string;
  networkTo: string | null;
  /** Units of currencyTo for one of currencyFrom; null without an exchange. */
  rate: string | null;
  min: string;
  max: string | null;
  feeFrom: Fee | null;
  feeTo: Fee | null;
  precisionFrom: number;
  precisionTo: number;
}

interface Currency {
  precision: number;
  usd: string;
  min: string;
  max: string;
}

/** The currencies with their price in usd and the limits of one order. */
export const CURRENCIES: Readonly<Record<string, Currency>> = {
  usd: { precision: 2, usd: '1', min: '1', max: '100000' },
  eur: { precision: 2, usd: '1.08', min: '1', max: '100000' },
  uah: { precision: 2, usd: '0.0241', min: '40', max: '4000000' },
  btc: { precision: 8, usd: '64250', min: '0.00005', max: '10' },
  eth: { precision: 18, usd: '3120.5', min: '0.001', max: '1000' },
  usdt: { precision: 6, usd: '1', min: '1', max: '100000' },
  trx: { precision: 6, usd: '0.1132', min: '10', max: '1000000' },
};

const fee = (payer: Fee['payer'], fixed: string, percent: string, min: string): Fee => ({ payer, fixed, percent, min });

/** Ways into the balance, by `<currency>_<network>`. */
const DEPOSITS: Readonly<Record<string, Fee>> = {
  usd_card: fee('merchant', '0.3', '2.5', '0.5'),
  eur_card: fee('client', '0.3', '2.4', '0.5'),
  uah_card: fee('client', '0', '1.5', '5'),
  eur_sepa: fee('merchant', '0.35', '0', '0'),
  btc_bitcoin: fee('merchant', '0', '0.5', '0.00001'),
  eth_ethereum: fee('client', '0', '0.4', '0.0002'),
  usdt_tron: fee('merchant', '0', '0.6', '0.2'),
  usdt_ethereum: fee('client', '0.1', '0.6', '0.2'),
  trx_tron: fee('client', '1', '0.5', '2'),
};

/** Ways out of the balance, by `<currency>_<network>`. */
const PAYOUTS: Readonly<Record<string, Fee>> = {
  usd_card: fee('merchant', '0.5', '1.5', '1'),
  usd_bank: fee('client', '0.25', '0.2', '0.3'),
  usd_multiple_cards: fee('merchant', '0.5', '1.5', '1'),
  eur_card: fee('merchant', '0.4', '1.2', '0.9'),
  eur_sepa: fee('client', '0.35', '0', '0'),
  uah_card: fee('client', '5', '1', '8'),
  uah_bank_ua: fee('merchant', '3', '0.5', '4'),
  uah_multiple_cards: fee('merchant', '5', '1', '8'),
  btc_bitcoin: fee('client', '0.00002', '0.1', '0.00001'),
  eth_ethereum: fee('merchant', '0.0003', '0.1', '0.0001'),
  usdt_tron: fee('merchant', '0.5', '0.1', '0.1'),
  usdt_ethereum: fee('client', '0.4', '0.1', '0.1'),
  trx_tron: fee('merchant', '1', '0.2', '1'),
};

/** What an exchange costs the merchant: the rate is half a percent below the price. */
const SPREAD = decimal('0.995');

interface Leg {
  currency: string;
  network: string | null;
  fee: Fee | null;
}

function currencyOf(code: string): Currency {
  const currency = CURRENCIES[code];
  if (!currency) throw new Error(`no currency ${code}`);
  return currency;
}

function rateOf(from: string, to: string): string {
  const price = decimal(currencyOf(from).usd).times(SPREAD).div(currencyOf(to).usd);
  return text(price.prec(10));
}

function termsOf(orderType: OrderType, from: Leg, to: Leg): Terms {
  const [source, target] = [currencyOf(from.currency), currencyOf(to.currency)];
  return {
    orderType,
    currencyFrom: from.currency,
    networkFrom: from.network,
    currencyTo: to.currency,
    networkTo: to.network,
    rate: from.currency === to.currency ? null : rateOf(from.currency, to.currency),
    min: source.min,
    max: orderType === 'exchange' ? null : source.max,
    feeFrom: from.fee,
    feeTo: to.fee,
    precisionFrom: source.precision,
    precisionTo: target.precision,
  };
}

const legs = (table: Readonly<Record<string, Fee>>): Leg[] =>
  Object.entries(table).map(([key, charged]) => {
    const [currency = '', ...network] = key.split('_');
    return { currency, network: network.join('_'), fee: charged };
  });

function allTerms(): Terms[] {
  const [deposits, payouts] = [legs(DEPOSITS), legs(PAYOUTS)];
  const balances: Leg[] = Object.keys(CURRENCIES).map((currency) => ({ currency, network: null, fee: null }));
  const pairs = (type: OrderType, from: Leg[], to: Leg[]) =>
    from.flatMap((source) =>
      to.filter((target) => target.currency !== source.currency).map((target) => termsOf(type, source, target)),
    );
  return [
    ...deposits.map((leg) => termsOf('deposit', leg, { ...leg, network: null, fee: null })),
    ...pairs('deposit_exchange', deposits, balances),
    ...pairs('deposit_exchange_withdraw', deposits, payouts),
    ...pairs('exchange', balances, balances),
    ...pairs('exchange_withdraw', balances, payouts),
    ...payouts.map((leg) => termsOf('withdraw', { ...leg, network: null, fee: null }, leg)),
  ];
}

/** What names a pair within its order type. */
export type Pair = Pick<Terms, 'currencyFrom' | 'networkFrom' | 'currencyTo' | 'networkTo'>;

/** The key of a pair as the rates operation uses it, like `btc_bitcoin-usd_card`. */
export function pairKey(type: OrderType, pair: Pair): string {
  const side = (currency: string, network: string | null) => (network === null ? currency : `${currency}_${network}`);
  const from = side(pair.currencyFrom, pair.networkFrom);
  const to = side(pair.currencyTo, pair.networkTo);
  if (type === 'deposit') return from;
  return type === 'withdraw' ? to : `${from}-${to}`;
}

/** All pairs the service serves, by `<order_type> <pair key>`. */
export const TERMS: ReadonlyMap<string, Terms> = new Map(
  allTerms().map((terms) => [`${terms.orderType} ${pairKey(terms.orderType, terms)}`, terms]),
);

/** The terms of a pair; undefined when the service does not serve it. */
export const findTerms = (type: OrderType, pair: Pair): Terms | undefined =>
  TERMS.get(`${type} ${pairKey(type, pair)}`);

/** The rate entry object of the interface. */
function rateEntry(terms: Terms): Record<string, unknown> {
  return {
    order_type: terms.orderType,
    currency_from: terms.currencyFrom,
    network_from: terms.networkFrom,
    currency_to: terms.currencyTo,
    network_to: terms.networkTo,
    exchange_rate: terms.rate,
    min_amount_from: terms.min,
    max_amount_from: terms.max,
    fixed_fee_amount_from: terms.feeFrom?.fixed ?? null,
    fixed_fee_amount_to: terms.feeTo?.fixed ?? null,
    fee_percent_from: terms.feeFrom?.percent ?? null,
    fee_percent_to: terms.feeTo?.percent ?? null,
    min_fee_amount_from: terms.feeFrom?.min ?? null,
    min_fee_amount_to: terms.feeTo?.min ?? null,
    fee_percent_from_payer: terms.feeFrom?.payer ?? null,
    fee_percent_to_payer: terms.feeTo?.payer ?? null,
    currency_from_precision: terms.precisionFrom,
    currency_to_precision: terms.precisionTo,
  };
}

/** The `data` of the rates operation. */
export function ratesData(served: Iterable<Terms>): Record<string, Record<string, unknown>> {
  const data: Record<string, Record<string, unknown>> = Object.fromEntries(ORDER_TYPES.map((type) => [type, {}]));
  for (const terms of served) {
    const ofType = data[terms.orderType];
    if (ofType) ofType[pairKey(terms.orderType, terms)] = rateEntry(terms);
  }
  return data;
}

/** Cuts a number to what a currency can express. */
export const inPrecision = (amount: string, precision: number): boolean =>
  roundDown(decimal(amount), precision).eq(amount);
