import { type Command, Option } from 'commander';
import type { PaymentOrders } from '../client.js';
import { shownRefOf } from '../contract/callback-url.js';
import { ORDER_TYPES, type OrderType } from '../contract/order/types.js';
import { type AddressListQuery, isMalformed } from '../contract/service-objects.js';
import { type CommonOptions, parseWhole } from './arguments.js';
import { whileShowing } from './progress.js';
import { type Connect, EXIT, type Report, type StarterIo, type Verbs } from './report.js';
import { rowsText } from './text.js';

/** Row of an answer, possibly unreadable. */
type Row = Readonly<Record<string, unknown>>;

const ADDRESS_FIELDS = [
  'ref',
  'address',
  'memo',
  'currency',
  'network',
  'currency_to',
  'min_amount',
  'max_amount',
  'address_title',
  'uuid',
];

/** Returns the row with the address's reference. */
const addressRow = (one: object): Row =>
  isMalformed(one) ? { ...one } : { ...one, ref: shownRefOf((one as { callback_url: string }).callback_url) };

/** Adds `rates`, `balances` and `address`, which a worker runs with its secrets. */
export function addServiceVerbs(program: Command, { stdout, stderr }: StarterIo, verbs: Verbs): void {
  const answered = async <T>(connect: Connect, ask: (orders: PaymentOrders) => Promise<T>): Promise<T> =>
    whileShowing(stderr, 'waiting for a worker and the payment service', async () => ask(await connect()));
  /** An unreadable row means that the answer is incomplete. */
  const shown = (json: object, fields: readonly string[], rows: readonly Row[]): Report => ({
    exitCode: rows.some(isMalformed) ? EXIT.endedWithoutSuccess : EXIT.done,
    json,
    text: rowsText(fields, rows, stdout.columns),
  });

  const rates = program
    .command('rates')
    .description('rates and limits by order type and pair')
    .addOption(new Option('--type <type>', 'of one order type').choices(ORDER_TYPES))
    .option('--pair <key>', 'of one pair, such as usd_card or usd_card-btc_bitcoin');
  type RatesOptions = CommonOptions & { type?: OrderType; pair?: string };
  verbs.add(rates, async (connect, { account, type, pair }: RatesOptions) => {
    const query = { ...(type && { order_type: type }), ...(pair && { pair }) };
    const found = await answered(connect, (orders) => orders.rates(account, query));
    const rows = Object.entries(found).flatMap(([orderType, pairs]) =>
      Object.entries(pairs).map(([key, entry]) => ({ ...entry, type: orderType, pair: key })),
    );
    return shown({ rates: found }, ['type', 'pair', 'exchange_rate', 'min_amount_from', 'max_amount_from'], rows);
  });

  const balances = program.command('balances').description("the merchant's balances");
  verbs.add(balances, async (connect, { account }: CommonOptions) => {
    const found = await answered(connect, (orders) => orders.balances(account));
    const rows = Object.entries(found).map(([currency, entry]) => ({ currency, ...entry }));
    return shown({ balances: found }, ['currency', 'amount', 'overdraft', 'updated_at'], rows);
  });

  const address = program.command('address').description('permanent deposit addresses: create, list');
  const create = address
    .command('create')
    .description('create an address; the same reference again returns the same address')
    .argument('<ref>', 'your reference for the address')
    .requiredOption('--currency <code>', 'deposit currency')
    .requiredOption('--network <code>', 'deposit network')
    .option('--currency-to <code>', 'exchange deposits into this currency')
    .option('--title <text>', 'name of the address');
  type CreateOptions = CommonOptions & { currency: string; network: string; currencyTo?: string; title?: string };
  verbs.add(create, async (connect, ref: string, { account, currency, network, currencyTo, title }: CreateOptions) => {
    const optional = { ...(currencyTo && { currency_to: currencyTo }), ...(title && { address_title: title }) };
    const request = { account, ref, address: { currency, network, ...optional } };
    const result = await answered(connect, (orders) => orders.createAddress(request));
    const report = shown({ ref, ...result }, ADDRESS_FIELDS, [addressRow(result.address)]);
    // Newer addresses are accidental, but remain usable.
    const { others = [] } = result;
    const more = others.length > 0 ? `\nmore addresses have this reference: ${others.join(', ')}` : '';
    return { ...report, text: `${report.text}${more}` };
  });
  const list = address
    .command('list')
    .description('one page of addresses')
    .option('--currency <code>', 'deposit currency')
    .option('--network <code>', 'deposit network')
    .option('--limit <n>', 'addresses per page, at most 100', parseWhole(1))
    .option('--page <n>', 'which page', parseWhole(1));
  verbs.add(list, async (connect, { account, currency, network, limit, page }: CommonOptions & AddressListQuery) => {
    const query = { currency, network, limit, page };
    const addresses = await answered(connect, (orders) => orders.addressList(query, account));
    return shown({ addresses }, ADDRESS_FIELDS, addresses.map(addressRow));
  });
}
