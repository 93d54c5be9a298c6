import {
  type BatchInterruption,
  type BatchPhase,
  type BatchPlan,
  type BatchProgress,
  type CurrencyPlan,
  shownInterruption,
} from '../../contract/batch/batch.js';
import { maskName } from '../../contract/masking.js';
import { searchAttribute } from '../../contract/names.js';
import { show } from '../show.js';
import { attentionOf, type BatchRun } from './state.js';

/** Moves on to a phase and says what is waited for. */
export function enter(run: BatchRun, phase: BatchPhase, waitingFor: string): void {
  run.phase = phase;
  run.waitingFor = waitingFor;
  showBatch(run);
}

/** Shows the batch to operators. */
export function showBatch(run: BatchRun): void {
  show(batchDetails(run), [
    { key: searchAttribute.needsAttention, value: attentionOf(run) !== undefined },
    { key: searchAttribute.account, value: run.account },
    ...(run.batchId ? [{ key: searchAttribute.batchId, value: run.batchId }] : []),
  ]);
}

/** Longer tables and lists hide what matters; the query has everything. */
const SHOWN = 10;

/** What the Temporal UI shows as current details; never a wallet, since everyone who sees workflows may read it. */
function batchDetails(run: BatchRun): string {
  const attention = attentionOf(run);
  return [
    `**${run.phase}** · waiting for ${run.waitingFor}`,
    ...(attention ? [`**Needs attention:** ${attention}`] : []),
    ...people(run),
    ...whatToDo(run),
    ...(run.plan ? planned(run.plan, run.progress) : []),
    ...(run.plan && run.sendingSince ? [progressed(run.plan, run.progress)] : []),
    ...(run.batchId ? [whereToLook(run)] : []),
  ].join('\n\n');
}

function people({ approvedBy, paused, stopped }: BatchRun): string[] {
  return [
    ...(approvedBy ? [`Approved by ${maskName(approvedBy)}.`] : []),
    ...(paused ? [`Paused ${interruption(paused)}`] : []),
    ...(stopped ? [`Stopped ${interruption(stopped)}`] : []),
  ];
}

function interruption(interrupted: BatchInterruption): string {
  const { by, reason } = shownInterruption(interrupted);
  return `by ${by} at ${interrupted.at}: ${reason}`;
}

function whatToDo({ phase, plan, stopped, paused }: BatchRun): string[] {
  const who = '`{"by": "<name>", "reason": "<why>"}`';
  if (stopped) return ['Nothing to decide: orders that were started are followed to their end.'];
  if (phase === 'awaitingApproval' && plan) {
    return [
      `Look at the plan, then send the update \`approve\` with \`{"digest": "${plan.digest}", "by": "<name>"}\`, or \`stop\` with ${who}.`,
    ];
  }
  if (phase === 'paused') {
    const resume = `\`{"by": "<name>", "reason": "<why>", "pausedAt": "${paused?.at}"}\``;
    return [`Send the update \`resume\` with ${resume}, or \`stop\` with ${who}. Started orders go on meanwhile.`];
  }
  if (phase === 'sending') return [`The updates \`pause\` and \`stop\` with ${who} end the sending of new rows.`];
  return [];
}

function planned({ rows, currencies, warnings, warningCount, digest }: BatchPlan, { moved }: BatchProgress): string[] {
  const cells = (plan: CurrencyPlan) => [
    plan.currency,
    plan.rows,
    plan.total,
    moved[plan.currency] ?? '0',
    plan.fee ?? 'unknown',
    plan.balanceBefore ?? 'unknown',
    plan.balanceAfter ?? 'unknown',
    plan.shortfall ? `**${plan.shortfall}**` : '',
  ];
  return [
    `Plan of ${rows} rows, digest \`${digest}\``,
    table(
      ['currency', 'rows', 'total', 'paid out', 'fees (estimate)', 'balance before', 'after', 'missing'],
      currencies.slice(0, SHOWN).map(cells),
    ),
    ...(warningCount > 0 ? [`${warningCount} warnings, such as: ${warnings[0]?.reason ?? ''}`] : []),
  ];
}

function progressed({ rows }: BatchPlan, { taken, open, outcomes }: BatchProgress): string {
  return table(
    ['rows', 'taken', 'open', ...Object.keys(outcomes)],
    [[rows, taken, open.length, ...Object.values(outcomes)]],
  );
}

const whereToLook = ({ batchId }: BatchRun): string =>
  `Its orders: \`PaymentBatchId = "${batchId}"\`; those that wait for a person: \`… AND PaymentNeedsAttention = true\`.`;

const table = (head: readonly string[], rows: readonly (readonly (string | number)[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
