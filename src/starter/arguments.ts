import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { durationMs } from '../config/values.js';
import { ACCOUNT_FORMAT, DEFAULT_ACCOUNT } from '../contract/ids.js';

/** Options every verb has. `account` is undefined when not given. */
export interface CommonOptions {
  account?: string;
  json?: boolean;
}

/** A parser that refuses, with InvalidArgumentError, what does not fit `format`. It does not repeat the value. */
export const fitting = (format: RegExp, reason: string) => (value: string) => {
  if (!format.test(value)) throw new InvalidArgumentError(reason);
  return value;
};

/** Milliseconds of a duration such as `30s`. */
export function parseTimeout(text: string): number {
  const timeoutMs = durationMs(text);
  if (timeoutMs === undefined) throw new InvalidArgumentError('It must be a duration above 0 such as 30s, 10m or 6h.');
  return timeoutMs;
}

/** A whole number from `min` on. */
export const parseWhole = (min: number) => (text: string) => {
  const value = Number(text);
  if (!/^\d{1,9}$/.test(text) || value < min)
    throw new InvalidArgumentError(`It must be a whole number from ${min} on.`);
  return value;
};

/** Names, separated by commas. */
export const parseNames = (text: string): string[] =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);

/** The argument `<order_id>`; ids of follow-ups too. */
export const orderIdArgument = (): Argument =>
  new Argument('<order_id>', "the merchant's order id").argParser(
    fitting(/^[A-Za-z0-9._:-]{1,126}$/, 'It must be 1 to 126 of A-Z a-z 0-9 . _ : -'),
  );

/** Adds `--account` and `--json`. */
export const withCommonOptions = (command: Command): Command =>
  command
    .addOption(
      new Option('--account <name>', `service account (default: ${DEFAULT_ACCOUNT})`).argParser(
        fitting(ACCOUNT_FORMAT, 'It must be 1 to 32 of a-z 0-9 -'),
      ),
    )
    .option('--json', 'print exactly one JSON object');

/** Adds `--timeout`. */
export const withTimeout = (command: Command, what: string): Command =>
  command.option('--timeout <duration>', `${what}, such as 30s or 10m; then exit 4`, parseTimeout);
