import { Argument, type Command } from 'commander';
import { ADDRESS_REF_FORMAT } from '../contract/ids.js';
import { type CommonOptions, fitting, parseWhole, withCommonOptions } from './arguments.js';
import { EXIT } from './exit-codes.js';
import { whileWaiting } from './progress.js';
import type { Run, StarterIo } from './report.js';
import { addressesText, balancesText, createdAddressText, ratesText } from './text.js';

const parseRef = fitting(ADDRESS_REF_FORMAT, 'It must be 1 to 64 of A-Z a-z 0-9 _ -');

/** A worker asks the payment service for us. */
const answered = <T>({ stderr }: StarterIo, answer: Promise<T>): Promise<T> =>
  whileWaiting(stderr, 'waiting for a worker and the payment service', answer);

function addAddressVerbs(program: Command, io: StarterIo, run: Run): void {
  const address = program.command('address').description('permanent deposit addresses: create, list');
  const create = address
    .command('create')
    .description('create an address; the same reference again returns the same address')
    .addArgument(new Argument('<ref>', 'your reference for the address').argParser(parseRef))
    .requiredOption('--currency <code>', 'deposit currency')
    .requiredOption('--network <code>', 'deposit network')
    .option('--currency-to <code>', 'exchange deposits into this currency')
    .option('--title <text>', 'name of the address');
  withCommonOptions(create).action(
    (
      ref: string,
      options: CommonOptions & { currency: string; network: string; currencyTo?: string; title?: string },
    ) => {
      const { account, currency, network, currencyTo, title } = options;
      const wanted = {
        currency,
        network,
        ...(currencyTo && { currency_to: currencyTo }),
        ...(title && { address_title: title }),
      };
      return run(async (orders) => {
        const result = await answered(io, orders.createAddress({ account, ref, address: wanted }));
        return { exitCode: EXIT.done, json: { ref, ...result }, text: createdAddressText(result) };
      });
    },
  );
  const list = address
    .command('list')
    .description('one page of addresses')
    .option('--currency <code>', 'deposit currency')
    .option('--network <code>', 'deposit network')
    .option('--limit <n>', 'addresses per page, at most 100', parseWhole(1))
    .option('--page <n>', 'which page', parseWhole(1));
  withCommonOptions(list).action(
    ({
      account,
      currency,
      network,
      limit,
      page,
    }: CommonOptions & { currency?: string; network?: string; limit?: number; page?: number }) =>
      run(async (orders) => {
        const addresses = await answered(io, orders.addressList({ currency, network, limit, page }, account));
        return { exitCode: EXIT.done, json: { addresses }, text: addressesText(addresses) };
      }),
  );
}

/** Adds `rates`, `balances` and `address`: what a worker reads or creates for us with its secrets. */
export function addServiceVerbs(program: Command, io: StarterIo, run: Run): void {
  withCommonOptions(program.command('rates').description('rates and limits by order type and pair')).action(
    ({ account }: CommonOptions) =>
      run(async (orders) => {
        const rates = await answered(io, orders.rates(account));
        return { exitCode: EXIT.done, json: { rates }, text: ratesText(rates) };
      }),
  );
  withCommonOptions(program.command('balances').description("the merchant's balances")).action(
    ({ account }: CommonOptions) =>
      run(async (orders) => {
        const balances = await answered(io, orders.balances(account));
        return { exitCode: EXIT.done, json: { balances }, text: balancesText(balances) };
      }),
  );
  addAddressVerbs(program, io, run);
}
