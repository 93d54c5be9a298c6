import type { BatchRowEntry } from '../client/batch/batch-rows.js';
import {
  amountsLeft,
  type BatchPlan,
  type BatchResult,
  type BatchState,
  type ReportFile,
} from '../contract/batch/batch.js';
import { decimal, decimalOrZero, toAmount } from '../contract/money.js';
import { keyFor, named, ofAccount, optionsOf, rowsText, suggested } from './text.js';

const AMOUNTS = ['total', 'fee', 'feeOnTop', 'balanceBefore', 'balanceAfter', 'shortfall'];

/** Returns currencies with their totals, one per line. */
const currenciesText = ({ currencies }: BatchPlan): string =>
  rowsText(
    ['currency', 'rows', ...AMOUNTS],
    currencies.map((one) =>
      Object.fromEntries(Object.entries(one).map(([field, value]) => [field, value ?? 'unknown'])),
    ),
  );

function warningsText({ warnings, warningCount }: BatchPlan): string[] {
  if (warningCount === 0) return [];
  const lines = warnings.map(({ rows, reason }) =>
    rows.length === 0 ? `  ${reason}` : `  line ${rows.join(', ')}: ${reason}`,
  );
  return [
    `${warningCount} ${warningCount === 1 ? 'warning' : 'warnings'}${warnings.length < warningCount ? `, the first ${warnings.length}` : ''}:`,
    ...lines,
  ];
}

/** Returns the options that decide, together with the rows, what is paid. */
function policies({
  compensation,
  resend,
  whenShort,
  again,
  latestSend,
  stopAfter,
}: BatchPlan): [string, string | undefined][] {
  return [
    ['compensation', compensation ?? 'by the table'],
    ['resend', resend],
    ['when short', whenShort],
    ['again', again ? 'rows that ended without an order are sent once more' : undefined],
    ['latest send', latestSend],
    ['stops after', stopAfter?.failures === undefined ? undefined : `failures ${stopAfter.failures}`],
  ];
}

/** Returns a plan as text. */
export const planText = (plan: BatchPlan): string =>
  [
    named([['batch', plan.batchId], ['rows', String(plan.rows)], ['sha256', plan.sha256], ...policies(plan)]),
    currenciesText(plan),
    ...warningsText(plan),
    named([['digest', plan.digest]]),
  ].join('\n');

/** Returns the number of ended or parked rows. */
const endedRows = ({ outcomes = {} }: { outcomes?: Record<string, number> }): number =>
  Object.values(outcomes).reduce((sum, count) => sum + count, 0);

const outcomesText = (outcomes: object | undefined): string =>
  outcomes === undefined
    ? 'unknown'
    : Object.entries(outcomes)
        .filter(([, count]) => count > 0)
        .map(([outcome, count]) => `${count} ${outcome}`)
        .join(', ') || 'none';

const amountsText = (amounts: Readonly<Record<string, string>>): string =>
  Object.entries(amounts)
    .map(([currency, amount]) => `${amount} ${currency}`)
    .join(', ');

/** Amounts less what arrived. The commissions on top are known for all rows together only. */
const LEFT = 'still to pay (incl. fees, without those on top)';

/** Returns a progress line: how far the batch is, and what was paid. */
export function batchLine(state: BatchState | undefined): string {
  if (!state) return 'no worker answers; the batch waits';
  const { phase, plan, progress, attention, failure } = state;
  return [
    ...(plan && progress.outcomes ? [`${Math.floor((100 * endedRows(progress)) / plan.rows)} %`] : []),
    phase,
    ...(plan ? [`${progress.started} of ${plan.rows} rows started`, `ended: ${outcomesText(progress.outcomes)}`] : []),
    ...(Object.keys(progress.moved).length > 0 ? [`paid ${amountsText(progress.moved)}`] : []),
    ...(plan && progress.started > 0 ? [`${LEFT}: ${amountsText(amountsLeft(plan, progress.moved))}`] : []),
    ...(failure ? [`${failure.code}: ${failure.detail}`] : []),
    ...(attention ? [`attention: ${attention}`] : []),
  ]
    .filter(Boolean)
    .join(' · ');
}

/** Returns the state of a batch as text. */
export function batchStateText(state: BatchState): string {
  const {
    batchId,
    phase,
    waitingFor,
    attention,
    startedBy,
    approvals = [],
    paused,
    stopped,
    progress,
    plan,
    failure,
  } = state;
  const { approvedBy = approvals.map(({ by }) => `${by}, and another one is needed`).join() } = state;
  const rows = plan
    ? `${plan.rows}: ${progress.started} started, ${progress.open.length} open, ended: ${outcomesText(progress.outcomes)}`
    : undefined;
  const shown = named([
    ['batch', batchId],
    ['phase', `${phase}, waiting for ${waitingFor}`],
    ['failure', failure && `${failure.code}: ${failure.detail}`],
    ['attention', attention],
    ['started by', startedBy],
    ['approved by', approvedBy || undefined],
    ['paused', paused && `at ${paused.at} by ${paused.by}: ${paused.reason}`],
    ['stopped', stopped && `by ${stopped.by}: ${stopped.reason}`],
    ['rows', rows],
    ['paid', amountsText(progress.moved)],
    [LEFT, plan && amountsText(amountsLeft(plan, progress.moved))],
    ['sha256', plan?.sha256],
    ['digest', plan?.digest],
  ]);
  // A person decides by this before anything is sent: policies, sums, fees, balances and warnings.
  if (!plan || progress.started > 0) return shown;
  return [shown, named(policies(plan)), currenciesText(plan), ...warningsText(plan)].join('\n');
}

const reportText = (report: ReportFile | undefined): string | undefined =>
  report && `${report.path} (sha256 ${report.sha256})`;

/** Returns what this batch paid out, without earlier orders. */
const amountsNow = ({ moved, before }: BatchResult): Record<string, string> =>
  Object.fromEntries(
    Object.entries(moved).flatMap(([currency, paid]) => {
      const amount = decimal(paid).minus(decimalOrZero(before?.moved[currency]));
      return amount.gt(0) ? [[currency, toAmount(amount)]] : [];
    }),
  );

const beforeText = ({ before }: BatchResult): string | undefined =>
  before && `${before.rows} rows had an order already; paid by those: ${amountsText(before.moved) || 'nothing'}`;

/** Returns the result of a batch as text. */
export const batchResultText = (result: BatchResult): string =>
  [resultText(result), ...warningsText(result.plan)].join('\n');

/**
 * Rows that attached to an earlier order belong to its batch, so a search by this batch lacks them.
 */
const PARKED =
  'parked rows may still be paid, never pay them under another id: `order list --attention` and the report name them, `order show <order_id>` says what to decide';

const ROW_FIELDS = ['row', 'orderId', 'reference', 'state', 'attention', 'batchId', 'closedAt'];

/** Returns the rows of a batch as a table. */
export const batchRowsText = (rows: readonly BatchRowEntry[], columns?: number): string =>
  rowsText(
    ROW_FIELDS,
    rows.map(({ needsAttention, closedAt, ...row }) => ({
      ...row,
      attention: needsAttention ? 'yes' : '',
      closedAt: closedAt?.toISOString(),
    })),
    columns,
  );

const resultText = (result: BatchResult): string =>
  named([
    ['batch', result.batchId],
    ['rows', `${result.rows}: ${result.started} started, ended: ${outcomesText(result.outcomes)}`],
    ['paid', amountsText(amountsNow(result)) || (result.outcomes.parked > 0 ? 'nothing so far' : 'nothing')],
    ['before', beforeText(result)],
    ['stopped', result.stopped && `by ${result.stopped.by}: ${result.stopped.reason}`],
    ['report', reportText(result.report)],
    ['rejected rows', reportText(result.rejected)],
    ['digest', result.digest],
    ['next', result.outcomes.parked > 0 ? PARKED : undefined],
  ]);

/** Returns the command lines for what a person may do with a batch. */
export const batchCommands = (self: string, account: string, { batchId, choices }: BatchState): string[] =>
  choices.map(({ update, does, argument, onlyByCommand }) => {
    // The verbs address the newest run.
    const { runId: _, ...typed } = argument;
    const words = [`batch ${update} ${batchId}`, ofAccount(account), ...optionsOf(typed), keyFor(onlyByCommand)];
    return suggested(self, words, update === 'approve' ? `${does}; not by who started it` : does);
  });

/** Returns the command line that follows a batch to its end. */
export const followLine = (self: string, { account, batchId }: { account: string; batchId: string }): string =>
  suggested(self, [`batch show ${batchId}`, ofAccount(account), '--watch']);
