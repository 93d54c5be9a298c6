import type { BookLine, OrderLine } from '../contract/books/book.js';
import { decimal, decimalOrZero, toAmount } from '../contract/money.js';
import { type Cell, csvLine } from './formats.js';

/** Columns of a book as CSV. Each kind of line fills some of them. */
export const BOOK_COLUMNS = [
  ...['kind', 'account', 'order_id', 'order_uuid', 'order_type', 'reference', 'status'],
  ...['asked_amount', 'asked_currency'],
  ...['currency_from', 'expected_amount_from', 'amount_from', 'amount_from_fee', 'fee_from_payer'],
  ...['currency_to', 'expected_amount_to', 'amount_to', 'amount_to_fee', 'fee_to_payer'],
  ...['exchange_rate_initial', 'exchange_rate_actual', 'follow_ups', 'balance_changes'],
  ...['created_at', 'finalized_at', 'updated_at', 'ended'],
  ...['currency', 'changes', 'opening', 'total', 'closing', 'difference', 'reason'],
];

type Cells = Record<string, Cell>;

const listed = (parts: readonly (readonly (string | undefined)[])[]): string =>
  parts.map((words) => words.filter((word) => word !== undefined).join(' ')).join('; ');

/** Returns the sums of balance changes, such as `usd -12.5; btc 0.1`. */
function changesText(changes: OrderLine['balance_changes']): string {
  const sums = new Map<string, string>();
  for (const { currency, amount_change: amount } of changes) {
    sums.set(currency, toAmount(decimalOrZero(sums.get(currency)).plus(decimal(amount))));
  }
  return listed([...sums]);
}

/** Returns a line of a book as cells by column. */
export function bookCells(line: BookLine): Cells {
  switch (line.kind) {
    case 'sum': {
      const { current, ...cells } = line;
      return { ...cells, reason: current ? 'closing is the current balance' : undefined };
    }
    case 'missing':
      return { ...line };
    case 'end': {
      const { kind, account, from, to, orders, open, parts, late, missing, differences } = line;
      const counts = `${orders} orders, ${open} open, ${parts} parts, ${late} late, ${missing} missing, ${differences} differences`;
      return { kind, account, reason: `from ${from} until before ${to}: ${counts}` };
    }
    default: {
      const { follow_ups: followUps, balance_changes: changes, difference = {}, ...cells } = line;
      return {
        ...cells,
        follow_ups: listed(followUps.map((one) => [one.order_id, one.amount, one.currency, one.status])),
        balance_changes: changesText(changes),
        difference: listed(Object.entries(difference)),
      };
    }
  }
}

/** Yields the lines of a book as CSV or NDJSON. */
export async function* bookText(lines: AsyncIterable<BookLine>, format: 'csv' | 'ndjson'): AsyncGenerator<string> {
  if (format === 'csv') yield `${BOOK_COLUMNS.join(',')}\n`;
  for await (const line of lines) {
    yield format === 'csv' ? csvLine(BOOK_COLUMNS, bookCells(line)) : `${JSON.stringify(line)}\n`;
  }
}
