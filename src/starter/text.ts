import type { OrderListEntry } from '../client/list-orders.js';
import { CANCEL_REQUESTED, NOTHING_TO_DECIDE } from '../contract/attention.js';
import { maskWords } from '../contract/masking.js';
import { DEFAULT_ACCOUNT } from '../contract/names.js';
import type { OrderResult } from '../contract/order/input-and-result.js';
import type { CallerMarks, DecisionRecord, OrderState } from '../contract/order/messages.js';
import { isMalformed, type Order } from '../contract/service-objects.js';
import { withoutWallets } from '../contract/shown-json.js';
import type { OnlyByCommand } from '../contract/signature.js';
import { printableLine } from '../print.js';

/** Returns aligned columns, one line per row: texts of the service must not break lines. */
export function table(rows: readonly (readonly string[])[]): string {
  const clean = rows.map((row) => row.map(printableLine));
  const widths = clean.reduce<number[]>((max, row) => row.map((cell, i) => Math.max(max[i] ?? 0, cell.length)), []);
  return clean
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Returns rows under headings. On a narrow terminal, each row becomes a list. */
export function headed(headings: readonly string[], rows: readonly (readonly string[])[], columns = Infinity): string {
  const wide = table([headings, ...rows]);
  const isNarrow = wide.split('\n').some((line) => line.length > columns);
  if (!isNarrow) return wide;
  return rows.map((row) => named(headings.map((heading, i) => [heading, row[i]]))).join('\n\n');
}

type Row = readonly [string, string | null | undefined];

/** Returns named values, one per line, without empty ones. */
export const named = (rows: readonly Row[]): string =>
  table(rows.flatMap(([name, value]) => (value == null || value === '' ? [] : [[name, value]])));

/** Returns all fields of an order by the service's names. */
const orderRows = (order: Order | null): Row[] =>
  Object.entries(withoutWallets(order ?? {}) as Record<string, unknown>).map(([field, value]) => [
    field,
    typeof value === 'object' && value !== null ? JSON.stringify(value) : value?.toString(),
  ]);

const markRows = ({ reference, metadata = {} }: CallerMarks): Row[] => [
  ['reference', reference],
  ...Object.entries(metadata).map(([name, value]): Row => [`metadata ${name}`, value]),
];

const paymentRows = ({ payment = {} }: OrderState): Row[] => [
  ['payment', payment.moves],
  ['to', payment.payee],
  ['left', payment.left],
  ['description', payment.description],
  ['batch', payment.batchId],
];

/** Returns the state of an order as text. */
export function stateText({ orderId }: { orderId: string }, state: OrderState): string {
  const { attention } = state;
  return named([
    ['order', orderId],
    ...paymentRows(state),
    ['sent', state.sent],
    ...markRows(state),
    ['phase', `${state.phase}, revision ${state.revision}`],
    ['run', state.runId],
    ['status', state.status ?? 'not known yet'],
    ['waiting for', state.waitingFor],
    ...decidedRows(state.decided),
    ['cancelled', state.cancelRequested && CANCEL_REQUESTED],
    ['warnings', state.warnings?.join('; ')],
    ['attention', attention && `${attention.reason} (since ${attention.since})`],
    ['never', state.never],
    ['to do', state.toDo],
    ['latest send', state.latestSend],
    ['cancel', state.cancel],
    ['allowed', attention && (attention.allowed.join(', ') || NOTHING_TO_DECIDE)],
    ...orderRows(state.order),
    ['last look-up', state.lastLookupAt ?? 'none yet'],
  ]);
}

function decisionText({ action, amount, currency, differences, kind, as, by, reason }: DecisionRecord): string {
  const way = [amount, currency, differences && `in spite of ${differences.join(', ')}`, kind, as && `as ${as}`]
    .filter(Boolean)
    .join(' ');
  return `${action}${way && ` ${way}`} by ${maskWords(by)}: ${maskWords(reason)}`;
}

const decidedRows = (decided: readonly DecisionRecord[] = []): Row[] =>
  decided.map((decision) => ['decided', `${decisionText(decision)} (${decision.at})`]);

/** Returns the result of an order as text. */
export function resultText(orderId: string, result: OrderResult): string {
  const { difference, remainder, compensation } = result;
  return named([
    ['order', orderId],
    ...markRows(result),
    ['outcome', result.outcome],
    ...orderRows(result.order),
    ['not checked', result.notes?.join('; ')],
    ['shown otherwise', result.echoDifferences?.join(', ')],
    ['difference', difference && `from ${difference.from ?? '0'}, to ${difference.to ?? '0'}`],
    [
      compensation?.status === 'done' ? 'was left' : 'left',
      remainder?.map(({ kind, currency, amount }) => `${amount} ${currency} ${kind}`).join(', '),
    ],
    ['left unknown', result.remainderUnknown],
    ['compensation', compensation && Object.values(compensation).join(', ')],
    ...decidedRows(result.decisions),
  ]);
}

/** Text in place of a state: no worker answers, or none can run this workflow. */
export const NOBODY_ANSWERS =
  'no worker answers for this order, which waits: start one, or look into the log of the one that runs';

/** Returns a progress line that changes only with what a person waits for. */
export function progressLine(state: OrderState | undefined): string {
  if (!state) return NOBODY_ANSWERS;
  const status = state.status === null ? 'not known at the service yet' : `status ${state.status}`;
  return `${state.phase}, ${status}${state.attention ? `, attention: ${state.attention.reason}` : ''}`;
}

/** Returns the command lines of the possible decisions. */
export const decideCommands = (self: string, account: string, orderId: string, state: OrderState): string[] =>
  state.decisions.map(({ does, needs, decision }) => {
    // Wallets never appear on a command line.
    const inFile = needs === 'revertTo' || needs === 'wallet_details' ? `<file with {"${needs}": …}>` : undefined;
    const toFill = [
      ['--order-uuid', needs === 'order_uuid' ? '<order_uuid>' : undefined] as const,
      ['--file', inFile] as const,
    ];
    const words = [`order decide ${orderId}`, ofAccount(account), ...optionsOf(decision), ...toFill];
    return suggested(self, [...words, keyFor(state.onlyByCommand)], does);
  });

/** Returns orders, one per line. */
export function listText(orders: readonly OrderListEntry[], columns?: number): string {
  const isMarked = orders.some(({ reference }) => reference !== undefined);
  const rows = orders.map((order) => [
    order.account,
    order.orderId,
    [order.received ? 'received' : order.type, order.afterEnd && 'after the end'].filter(Boolean).join(' '),
    order.status ?? '',
    order.needsAttention ? (order.attention?.code ?? 'attention') : '',
    order.attention?.moves ?? '',
    order.attention?.since.toISOString() ?? '',
    [...new Set([order.currencyFrom, order.currencyTo])].join(' → '),
    order.startedAt.toISOString(),
    ...(isMarked ? [order.reference ?? ''] : []),
  ]);
  const headings = ['account', 'order', 'type', 'status', 'attention', 'moves', 'since', 'currencies', 'started'];
  if (isMarked) headings.push('reference');
  return rows.length === 0 ? 'no orders' : headed(headings, rows, columns);
}

/** Returns rows with one column per field. An unreadable row says so in its first empty cell. */
export function rowsText(
  fields: readonly string[],
  rows: readonly Readonly<Record<string, unknown>>[],
  columns?: number,
): string {
  const cells = rows.map((row) => {
    if (!isMalformed(row)) return fields.map((field) => String(row[field] ?? ''));
    return [
      ...fields.flatMap((field) => (row[field] === undefined ? [] : String(row[field]))),
      `cannot be read: ${row.malformed}`,
    ];
  });
  return headed(fields, cells, columns);
}

/** Word of a command line: an option with its value, a word, or undefined (left out). */
type Word = string | readonly [option: string, value: string | undefined] | undefined;

/** Placeholder that the user replaces. Neither the shell nor a verb accepts it. */
const YOUR_KEY = '<file of your private key>';

/** Returns `--key` if the command needs a signature. */
export const keyFor = (onlyByCommand: OnlyByCommand | undefined): Word =>
  onlyByCommand === 'signed' ? ['--key', YOUR_KEY] : undefined;

/** Returns a choice as the options of its verb. */
export const optionsOf = (choice: object): Word[] =>
  Object.entries(choice).map(([field, value]) => {
    const name = field === 'runId' ? 'run' : field.replace(/_|(?=[A-Z])/g, '-').toLowerCase();
    return [`--${name}`, value === undefined ? undefined : `${value}`];
  });

/** Returns `--account` for a non-default account. */
export const ofAccount = (account: string): Word => (account === DEFAULT_ACCOUNT ? undefined : ['--account', account]);

/** Returns a command line for a POSIX shell, with `does` as a comment. */
export function suggested(self: string, words: readonly Word[], does?: string): string {
  const typed = words.flatMap((word) => {
    if (word === undefined || typeof word === 'string') return word ?? [];
    const [option, value] = word;
    return value === undefined ? [] : `${option} ${quoted(value)}`;
  });
  return `${[self, ...typed].join(' ')}${does ? `  # ${does}` : ''}`;
}

/** Quotes what a shell would interpret: unquoted, `<name>` reads a file. */
const quoted = (value: string): string =>
  /^[\w@%+=:,./-]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`;
