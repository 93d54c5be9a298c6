import { proxyActivities, sleep } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type { AttentionCode } from '../contract/attention.js';
import { searchAttribute } from '../contract/names.js';
import { ATTENTION_AFTER_MIN, ATTENTION_AFTER_MS } from '../contract/order/messages.js';
import {
  daysOf,
  emptyTotals,
  gravestRows,
  REPORTED_CLASSES,
  type ReconcileTotals,
} from '../contract/reconcile/days.js';
import { checkedReconcileInput, type ReconcileTask } from '../contract/reconcile/input.js';
import {
  DISAGREEING_CLASSES,
  disagreementOf,
  type Finding,
  MAX_SHOWN,
  type ReconcileInput,
  type ReconcileResult,
} from '../contract/reconcile/reconcile.js';
import { answersWithin, failureOf, wholeAccount } from './activity-calls.js';
import { checkReconcile, invalidInput } from './identity.js';
import { attentionAttributes, show } from './show.js';

/** Text for a run without a result. It may be healthy: only the activity knows. */
const NO_RESULT =
  `**Needs attention**: no result after ${ATTENTION_AFTER_MIN} min. The pending activity says why: ` +
  'its last failure, or in its heartbeat what it is reading. It goes on by itself.';

const { readBalances, reconcileDay, proveBalances, reportReconcile } = proxyActivities<Activities>(wholeAccount);

/** Compares orders, workflows and balances. Starts followers, wakes workflows, moves no money. */
export async function reconcile(input?: ReconcileInput): Promise<ReconcileResult> {
  const task = checkedInput(input);
  const tell = (text: string, code?: AttentionCode) =>
    show(text, [{ key: searchAttribute.account, value: task.account }, ...attentionAttributes(code)]);
  tell('');
  try {
    const pending = compareAccount(task);
    if (!(await answersWithin(pending, ATTENTION_AFTER_MS, 'No result: a person is told')))
      tell(NO_RESULT, 'no-result');
    const result = await pending;
    const disagreement = disagreementOf(result);
    tell(details(result, disagreement), disagreement === undefined ? undefined : 'disagreement');
    return result;
  } catch (error) {
    throw failureOf(error) ?? error;
  }
}

/**
 * Compares day by day. Money moves meanwhile, so a gap counts only if a second reading finds it.
 */
async function compareAccount(task: ReconcileTask): Promise<ReconcileResult> {
  const first = await overDays(task, Date.now(), emptyTotals());
  let { totals, proof } = first;
  if (proof.gapCount > 0) {
    await sleep(proof.againMs, { summary: 'Before a second reading of the gaps' });
    const until = Object.fromEntries(Object.entries(totals.books).map(([name, { last }]) => [name, last.at]));
    ({ totals, proof } = await overDays(task, Date.now(), { ...totals, books: {}, edge: [] }, until));
  }
  const { books: _books, edge: _edge, addressesRead: _read, ...counted } = totals;
  const { againMs: _againMs, ...proven } = proof;
  const rows = gravestRows(first.rows);
  const rowCount = REPORTED_CLASSES.reduce((sum, name) => sum + counted.classes[name], 0);
  const leftOut = `the report holds the ${rows.length} gravest of ${rowCount} rows; a shorter --from to --to shows the others`;
  const found = {
    account: task.account,
    from: new Date(task.fromMs).toISOString(),
    to: new Date(task.toMs).toISOString(),
    ...counted,
    ...proven,
    notes: [...counted.notes, ...(rows.length < rowCount ? [leftOut] : []), ...proof.notes].slice(0, MAX_SHOWN),
  };
  const disagreements = rows.filter((row) => REPORTED_CLASSES.indexOf(row.class) < DISAGREEING_CLASSES.length);
  return { ...found, disagreements: disagreements.slice(0, MAX_SHOWN), ...(await reportReconcile({ rows, found })) };
}

/** Reads the balances, then each day, then the balances again. */
async function overDays(task: ReconcileTask, atMs: number, start: ReconcileTotals, until?: Record<string, string>) {
  const begun = await readBalances({ ...task, atMs, totals: start });
  let totals = start;
  const rows: Finding[] = [];
  for (const day of daysOf(task)) {
    const found = await reconcileDay({ ...task, atMs, day, carried: begun.carried, totals, ...(until && { until }) });
    totals = found.totals;
    rows.push(...found.rows);
  }
  return { totals, rows, proof: await proveBalances({ ...task, ...begun, atMs, totals }) };
}

function checkedInput(input: unknown): ReconcileTask {
  const checked = checkedReconcileInput(input, Date.now());
  if ('errors' in checked) throw invalidInput(checked.errors, 'Nothing was compared');
  checkReconcile(checked.input.account);
  return checked.input;
}

const NEVER = '**Do not pay these orders again until the service has confirmed their outcome.**';
const TODO = '**To do**: read the report, and ask the service about each row. There is nothing to decide here.';

/** Returns the details of the Temporal UI: figures and ids, never a wallet. */
function details({ seen, classes, report }: ReconcileResult, disagreement: string | undefined): string {
  const counts = Object.entries(classes).flatMap(([name, count]) => (count > 0 ? [`| ${name} | ${count} |`] : []));
  return [
    ...(disagreement ? [NEVER, `**Why**: ${disagreement}`, TODO] : ['Everything matches or was fixed.']),
    ['| orders | |', '|---|---|', `| read from the service | ${seen} |`, ...counts].join('\n'),
    ...(report ? [`Report: \`${report.path}\``] : []),
  ].join('\n\n');
}
