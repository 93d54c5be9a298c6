import type { Command } from 'commander';
import { checkReconcileInput, type ReconcileState } from '../client/reconcile.js';
import {
  type BalanceGap,
  type ChainSummary,
  disagreementOf,
  type Finding,
  type ReconcileResult,
} from '../contract/reconcile/reconcile.js';
import { type CommonOptions, given, parseTimeout, withTimeout } from './arguments.js';
import { whileShowing } from './progress.js';
import { EXIT, type StarterIo, type Verbs } from './report.js';
import { named, table } from './text.js';

interface ReconcileVerbOptions extends CommonOptions {
  from?: string;
  to?: string;
  recover?: true;
  openTooLong?: number;
  timeout?: number;
}

function progressLine({ progress, trouble }: ReconcileState): string {
  if (!progress) return trouble ? `waiting: ${trouble}` : 'waiting for a worker';
  const line = `${progress.step}; ${progress.seen} orders, ${progress.windows} windows`;
  return trouble ? `${line}; begun again after: ${trouble}` : line;
}

const gapText = ({ currency, amount, after, before, now, since }: BalanceGap): string =>
  `${amount} ${currency} moved outside the orders seen: ${after} ${since ? `at ${since}` : 'by the changes seen'}, ${before} ${now ? 'is the balance now' : 'after the last of them'}`;

const chainText = ({ currency, changes, gaps, start, end, balance }: ChainSummary): string =>
  `${currency}: ${changes} changes, ${start} to ${end}, ${gaps} gaps, balance ${balance}`;

const SHOWN_FIELDS = ['class', 'order_id', 'order_uuid', 'status', 'verdict', 'detail'] as const;

const rowCells = (row: Finding): string[] => SHOWN_FIELDS.map((field) => row[field] ?? '');

/** Returns what was found, for people. */
function reconcileText(result: ReconcileResult): string {
  const { classes, disagreements, malformed, gaps, chains, notes, report } = result;
  const counts = Object.entries(classes).flatMap(([name, count]) => (count > 0 ? [`${name} ${count}`] : []));
  const shown = [['class', 'order', 'uuid', 'at the service', 'here', ''], ...disagreements.map(rowCells)];
  return [
    named([
      ['account', result.account],
      ['created', `${result.from} to ${result.to}, and 26 h on each side`],
      ['read', `${result.seen} orders in ${result.windows} windows`],
      ['orders', counts.join(', ')],
      ...chains.map((chain) => ['balances', chainText(chain)] as const),
      ...gaps.map((gap) => ['gap', gapText(gap)] as const),
      ...malformed.map(({ place, reason }) => ['malformed', `${place}: ${reason}`] as const),
      ...notes.map((note) => ['note', note] as const),
      ['report', report && `${report.path} (sha256 ${report.sha256})`],
    ]),
    ...(disagreements.length > 0 ? [table(shown)] : []),
    `result: ${disagreementOf(result) ?? 'everything agrees or was mended'}`,
  ].join('\n');
}

/** Adds `reconcile`; exit 1 where something needs a person. What was mended does not. */
export function addReconcileVerb(program: Command, io: StarterIo, verbs: Verbs): void {
  const verb = program
    .command('reconcile')
    .description('compare orders, workflows and balances; follow what nobody follows. Exit 1: something needs a person')
    .option('--from <time>', 'orders created from then on, ISO or "YYYY-MM-DD hh:mm:ss" UTC (default: 72 h ago)')
    .option('--to <time>', 'orders created until then (default: now)')
    .option('--recover', "Temporal's database was lost or is old: follow every open order that nobody follows")
    .option('--open-too-long <duration>', 'report orders not final for longer (default: 24h)', parseTimeout);
  verbs.add(withTimeout(verb, 'wait at most this long'), async (connect, options: ReconcileVerbOptions) => {
    const { account, from, to, recover, openTooLong, timeout: timeoutMs } = options;
    const input = checkReconcileInput(given({ account, from, to, recover, openTooLongMs: openTooLong }));
    const orders = await connect();
    const result = await whileShowing(io.stderr, 'waiting for a worker', (show) =>
      orders.reconcile(input, { timeoutMs, onState: (state) => show(progressLine(state)) }),
    );
    const disagreement = disagreementOf(result);
    return {
      exitCode: disagreement ? EXIT.endedWithoutSuccess : EXIT.done,
      json: { ...(disagreement && { disagreement }), result },
      text: reconcileText(result),
    };
  });
}
