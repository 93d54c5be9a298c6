import { type Command, Option } from 'commander';
import { ADDRESS_REF_FORMAT } from '../contract/names.js';
import { ORDER_TYPES, type OrderType } from '../contract/order/types.js';
import type { AddressListQuery } from '../contract/service-objects.js';
import { type CommonOptions, fitting, parseWhole } from './arguments.js';
import { whileWaiting } from './progress.js';
import { EXIT, exitCodeOfRows, type StarterIo, type Verbs } from './report.js';
import { addressesText, balancesText, createdAddressText, ratesText } from './text.js';

const parseRef = fitting(ADDRESS_REF_FORMAT, 'It must be 1 to 64 of A-Z a-z 0-9 _ -');

/** A worker asks the payment service for us. */
const answered = <T>({ stderr }: StarterIo, answer: Promise<T>): Promise<T> =>
  whileWaiting(stderr, 'waiting for a worker and the payment service', answer);

function addAddressVerbs(program: Command, io: StarterIo, verbs: Verbs): void {
  const address = program.command('address').description('permanent deposit addresses: create, list');
  const create = address
    .command('create')
    .description('create an address; the same reference again returns the same address')
    .argument('<ref>', 'your reference for the address', parseRef)
    .requiredOption('--currency <code>', 'deposit currency')
    .requiredOption('--network <code>', 'deposit network')
    .option('--currency-to <code>', 'exchange deposits into this currency')
    .option('--title <text>', 'name of the address');
  type CreateOptions = CommonOptions & { currency: string; network: string; currencyTo?: string; title?: string };
  verbs.add(create, async (orders, ref: string, { account, currency, network, currencyTo, title }: CreateOptions) => {
    const optional = { ...(currencyTo && { currency_to: currencyTo }), ...(title && { address_title: title }) };
    const address = { currency, network, ...optional };
    const result = await answered(io, orders.createAddress({ account, ref, address }));
    return { exitCode: EXIT.done, json: { ref, ...result }, text: createdAddressText(result, io.stdout.columns) };
  });
  const list = address
    .command('list')
    .description('one page of addresses')
    .option('--currency <code>', 'deposit currency')
    .option('--network <code>', 'deposit network')
    .option('--limit <n>', 'addresses per page, at most 100', parseWhole(1))
    .option('--page <n>', 'which page', parseWhole(1));
  verbs.add(list, async (orders, { account, json: _, ...query }: CommonOptions & AddressListQuery) => {
    const addresses = await answered(io, orders.addressList(query, account));
    return {
      exitCode: exitCodeOfRows(addresses),
      json: { addresses },
      text: addressesText(addresses, io.stdout.columns),
    };
  });
}

/** Adds `rates`, `balances` and `address`: what a worker reads or creates for us with its secrets. */
export function addServiceVerbs(program: Command, io: StarterIo, verbs: Verbs): void {
  const rates = program
    .command('rates')
    .description('rates and limits by order type and pair')
    .addOption(new Option('--type <type>', 'of one order type').choices(ORDER_TYPES))
    .option('--pair <key>', 'of one pair, such as usd_card or usd_card-btc_bitcoin');
  verbs.add(rates, async (orders, { account, type, pair }: CommonOptions & { type?: OrderType; pair?: string }) => {
    const query = { ...(type && { order_type: type }), ...(pair && { pair }) };
    const found = await answered(io, orders.rates(account, query));
    const entries = Object.values(found).flatMap((pairs) => Object.values(pairs));
    return { exitCode: exitCodeOfRows(entries), json: { rates: found }, text: ratesText(found, io.stdout.columns) };
  });
  const balances = program.command('balances').description("the merchant's balances");
  verbs.add(balances, async (orders, { account }: CommonOptions) => {
    const found = await answered(io, orders.balances(account));
    return {
      exitCode: exitCodeOfRows(Object.values(found)),
      json: { balances: found },
      text: balancesText(found, io.stdout.columns),
    };
  });
  addAddressVerbs(program, io, verbs);
}
