import type { Command } from 'commander';
import { checkReconcileInput, type ReconcileState } from '../client/reconcile.js';
import { disagreementOf, type ReconcileResult } from '../contract/reconcile/reconcile.js';
import { type CommonOptions, given, parseTimeout, withTimeout } from './arguments.js';
import { whileShowing } from './progress.js';
import { EXIT, type StarterIo, type Verbs } from './report.js';
import { named, rowsText } from './text.js';

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

const FIELDS = {
  disagreements: ['class', 'order_id', 'order_uuid', 'status', 'verdict', 'detail'],
  gaps: ['currency', 'amount', 'after', 'since', 'before', 'now'],
  chains: ['currency', 'changes', 'gaps', 'start', 'end', 'balance'],
  malformed: ['place', 'reason'],
} as const;

/** Returns the findings as text. */
function reconcileText(result: ReconcileResult): string {
  const { classes, notes, report, book } = result;
  const counts = Object.entries(classes).flatMap(([name, count]) => (count > 0 ? [`${name} ${count}`] : []));
  const lists = (['chains', 'gaps', 'malformed', 'disagreements'] as const).flatMap((name) => {
    const rows: readonly object[] = result[name];
    return rows.length > 0 ? [`${name}:`, rowsText(FIELDS[name], rows as readonly Record<string, unknown>[])] : [];
  });
  return [
    named([
      ['account', result.account],
      ['created', `${result.from} to ${result.to}, and 26 h on each side`],
      ['read', `${result.seen} orders in ${result.windows} windows`],
      ['orders', counts.join(', ')],
      ...notes.map((note) => ['note', note] as const),
      ...Object.entries({ report, book }).map(
        ([name, file]) => [name, file && `${file.path} (sha256 ${file.sha256})`] as const,
      ),
    ]),
    ...lists,
    `result: ${disagreementOf(result) ?? 'everything matches or was fixed'}`,
  ].join('\n');
}

/** Adds `reconcile`. Exit code 1 if something needs a person; repaired findings do not. */
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
