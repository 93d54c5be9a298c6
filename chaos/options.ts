import { Command, InvalidArgumentError, Option } from 'commander';

/** What a chaos run may be told. */
export interface ChaosOptions {
  /** How many orders are started. */
  orders: number;
  /** Decides inputs, faults and outcomes; part of every order id. */
  seed: string;
  /** Orders started per second. */
  rate: number;
  /** Payloads are not encrypted: personal data may then stand in what Temporal stores of orders. */
  plain?: true;
  /** Temporal runs on PostgreSQL and not on the dev server's SQLite. */
  postgres?: true;
}

function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('must be a whole number from 1 to 999999');
  return Number(text);
}

function seedText(text: string): string {
  if (!/^[A-Za-z0-9-]{1,32}$/.test(text)) throw new InvalidArgumentError('must be 1 to 32 of A-Z a-z 0-9 -');
  return text;
}

/** Reads the command line; prints what is wrong and ends the process with 2 on a mistake. */
export function readOptions(argv: readonly string[]): ChaosOptions {
  const program = new Command('chaos')
    .description('Runs orders while everything fails and dies, heals, and proves that none was paid twice or lost.')
    .addOption(new Option('--orders <n>', 'orders to start').default(300).argParser(wholeNumber))
    .addOption(new Option('--seed <s>', 'decides inputs, faults and outcomes').default('1').argParser(seedText))
    .addOption(new Option('--rate <n>', 'orders started per second').default(4).argParser(wholeNumber))
    .addOption(new Option('--plain', 'do not encrypt payloads'))
    .addOption(new Option('--postgres', 'Temporal on PostgreSQL, as it is deployed (built with Go, once)'))
    .addHelpText('after', '\nORDER_SETTLE_WINDOW and its companions override the pace of the workers.')
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2));
  return program.parse(argv).opts<ChaosOptions>();
}
