import { workflowInfo } from '@temporalio/workflow';
import { literal, timeShown } from '../../contract/attention.js';
import {
  APPROVAL_EXPIRES_MS,
  amountsLeft,
  type BatchChoice,
  type BatchInterruption,
  type BatchPhase,
  type BatchPlan,
  type BatchProgress,
  BY_ITSELF,
  shownInterruption,
} from '../../contract/batch/batch.js';
import { maskName } from '../../contract/masking.js';
import { DEFAULT_ACCOUNT, searchAttribute } from '../../contract/names.js';
import { attentionAttributes, inert, page, pasteable, show, WHY_BY_COMMAND } from '../show.js';
import { emitWaiting } from './events.js';
import { attentionOf, batchChoices } from './rules.js';
import type { BatchRun } from './state.js';

export function enter(run: BatchRun, phase: BatchPhase, waitingFor: string): void {
  run.phase = phase;
  run.waitingFor = waitingFor;
  showBatch(run);
}

export function showBatch(run: BatchRun): void {
  show(batchDetails(run), [
    ...attentionAttributes(attentionOf(run)?.code, totalOf(run)),
    { key: searchAttribute.account, value: run.account },
    ...(run.batchId ? [{ key: searchAttribute.batchId, value: run.batchId }] : []),
  ]);
  emitWaiting(run);
}

/** Rows of a table; the query has all. */
const SHOWN = 10;

function totalOf({ plan }: BatchRun): string | undefined {
  const [only, ...others] = plan?.currencies ?? [];
  return only && others.length === 0 ? `${only.total} ${only.currency}` : undefined;
}

/** Current details of the Temporal UI. Everyone may read them, so they contain no wallet. */
function batchDetails(run: BatchRun): string {
  return page([
    ...attentionDetails(run),
    ...whatToDo(run),
    `**${run.phase}** · waiting for ${inert(run.waitingFor)}`,
    ...people(run),
    ...(run.plan ? planned(run, run.plan) : []),
    ...(run.plan && run.sendingSince ? [progressed(run.plan, run.progress)] : []),
    ...(run.batchId ? [whereToLook(run)] : []),
  ]);
}

const NEVER = 'Never pay these rows in another way, nor under other order ids';

/** Only a first run that awaits its approval can say that nothing was started. */
const because = ({ phase, sendingSince, stopped, input, knownRun }: BatchRun): string =>
  phase === 'awaitingApproval' && !sendingSince && !stopped && !input.again && knownRun === workflowInfo().runId
    ? 'none was started, but this batch can still pay them'
    : 'those that were started may be paid, and the rest may follow';

function attentionDetails(run: BatchRun): string[] {
  const attention = attentionOf(run);
  if (!attention) return [];
  const { plan, progress } = run;
  const sent = plan && `**Sent**: ${progress.started} of ${plan.rows} rows were started, by the record of this batch`;
  return [`**${NEVER}: ${because(run)}.**`, ...(sent ? [sent] : []), `**Why**: ${inert(attention.reason)}`];
}

function people({ approvedBy, paused, stopped }: BatchRun): string[] {
  return [
    ...(approvedBy ? [`Approved by ${literal(maskName(approvedBy))}.`] : []),
    ...(paused && paused.by !== BY_ITSELF ? [`Paused ${interruption(paused)}`] : []),
    ...(stopped ? [`Stopped ${interruption(stopped)}`] : []),
  ];
}

function interruption(interrupted: BatchInterruption): string {
  const { by, reason } = shownInterruption(interrupted);
  return inert(`by ${by} at ${interrupted.at}: ${reason}`);
}

function whatToDo(run: BatchRun): string[] {
  const { phase, stopped } = run;
  if (stopped) return ['Nothing to decide: orders that were started are followed to their end.'];
  const choices = batchChoices(run, workflowInfo().runId);
  if (choices.length === 0) return phase === 'sending' ? [WHILE_SENDING] : [];
  const first = run.paused ? BEFORE_RESUME : beforeApproval(run);
  return [`**To do**: ${first} ${HOW}`, ...choices.map((one) => choiceShown(run, one))];
}

const BEFORE_RESUME =
  'Ask whoever ordered this batch whether the rest is still wanted. If it is, correct the cause, such as by paying in what is missing, then choose resume: nothing continues without it. If it is not, choose stop. If you cannot find out now, wait: nothing more is started.';

/** Returns what to compare before an approval, who may approve, and until when. */
function beforeApproval({ plan, input, batchId }: BatchRun): string {
  const sums = plan?.currencies.slice(0, SHOWN).map(({ total, currency }) => `${total} ${currency}`);
  const known = workflowInfo().typedSearchAttributes;
  const isShown = known.get(searchAttribute.attentionReason) === 'approval';
  const since = (isShown && known.get(searchAttribute.attentionSince)) || new Date();
  const expires = new Date(since.getTime() + (input.approvalExpiresMs ?? APPROVAL_EXPIRES_MS));
  const who =
    plan?.onlyByCommand === 'signed'
      ? 'Two approvers of the account must sign.'
      : `Anybody but ${literal(maskName(String(input.startedBy)))}, who started it, may approve.`;
  return [
    `Ask whoever ordered this batch whether ${plan?.rows} rows and ${sums?.join(', ')} are right, and compare the file by its sha256.`,
    `\`payment-orders batch rows ${batchId}\` lists the rows; the file has amounts and payees.`,
    `${who} If nobody does before ${timeShown(expires.toISOString())}, the plan expires, and nothing is paid.`,
  ].join(' ');
}

const HOW =
  'To decide, send the update (*More Actions*, *Send an Update*), with your own words in place of what stands in `<>`:';

const WHILE_SENDING =
  'The updates `pause` and `stop` with `{"by": "<your name>", "reason": "<why>"}` end the sending of new rows.';

function choiceShown({ batchId, account }: BatchRun, { update, does, argument, onlyByCommand }: BatchChoice): string {
  if (!onlyByCommand)
    return `\`${update}\` ${does}\n${pasteable(Object.entries(argument).map(([name, value]) => ({ [name]: value })))}`;
  const of = account === DEFAULT_ACCOUNT ? '' : ` --account ${account}`;
  return `\`${update}\` ${does}; on the command line, ${WHY_BY_COMMAND[onlyByCommand]}: \`payment-orders batch show ${batchId}${of}\` prints the command.`;
}

function planned({ input, progress: { moved } }: BatchRun, plan: BatchPlan): string[] {
  const { rows, currencies, warnings, warningCount, digest, sha256 } = plan;
  const left = amountsLeft(plan, moved);
  const head = [
    'currency',
    'rows',
    'total',
    'paid out',
    'left',
    'fees (estimate)',
    'balance before',
    'after',
    'missing',
  ];
  const lines = currencies.slice(0, SHOWN).map((one) => {
    const { currency, total, fee, balanceBefore, balanceAfter, shortfall } = one;
    const unsure = [fee, balanceBefore, balanceAfter].map((amount) => amount ?? 'unknown');
    const paid = [moved[currency] ?? '0', left[currency] ?? '0'];
    return [currency, one.rows, total, ...paid, ...unsure, shortfall ? `**${shortfall}**` : 'none'];
  });
  const source = input.file ? `the file ${literal(maskName(input.file.path))}` : 'rows given at the start';
  return [
    `Plan of ${rows} rows, started by ${literal(maskName(String(input.startedBy)))}, digest \`${digest}\``,
    `From ${source}, sha256 \`${sha256}\``,
    table(head, lines),
    ...(warningCount > 0 ? [`${warningCount} warnings, such as: ${inert(warnings[0]?.reason ?? '')}`] : []),
  ];
}

const progressed = ({ rows }: BatchPlan, { taken, open, outcomes }: BatchProgress): string =>
  table(['rows', 'taken', 'open', ...Object.keys(outcomes)], [[rows, taken, open.length, ...Object.values(outcomes)]]);

const whereToLook = ({ batchId }: BatchRun): string =>
  `To list its orders, filter by \`PaymentBatchId = "${batchId}"\`; with \` AND PaymentNeedsAttention = true\`, those that wait for a person. An order that another batch began is listed there.`;

const table = (head: readonly string[], rows: readonly (readonly (string | number)[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
