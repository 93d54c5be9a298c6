import { proxyActivities, sleep } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type { AttentionCode } from '../contract/attention.js';
import { searchAttribute } from '../contract/names.js';
import { ATTENTION_AFTER_MIN, ATTENTION_AFTER_MS } from '../contract/order/messages.js';
import {
  daysOf,
  emptyTotals,
  gravestRows,
  isDisagreement,
  MAX_OTHERS,
  REPORTED_CLASSES,
  type ReconcileTask,
  type ReconcileTotals,
} from '../contract/reconcile/days.js';
import { checkedReconcileInput } from '../contract/reconcile/input.js';
import {
  disagreementOf,
  type Finding,
  MAX_SHOWN,
  type MalformedItem,
  type ReconcileInput,
  type ReconcileResult,
} from '../contract/reconcile/reconcile.js';
import { answersWithin, failureOf, wholeAccount } from './activity-calls.js';
import { checkReconcile, invalidInput } from './identity.js';
import { attentionAttributes, show } from './show.js';

/** True for a long healthy run as well: only the activity knows whether it gets on. */
const NO_RESULT =
  `**Needs attention**: no result after ${ATTENTION_AFTER_MIN} min. The pending activity says why: ` +
  'its last failure, or in its heartbeat what it is reading. It goes on by itself.';

const { readBalances, reconcileDay, proveBalances, reportReconcile } = proxyActivities<Activities>(wholeAccount);

/** Compares orders, workflows and balances; starts followers, wakes workflows, reports the rest. No money moves. */
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

/** Compares day by day. Money moves meanwhile, so a gap counts only if a second reading finds it too. */
async function compareAccount(task: ReconcileTask): Promise<ReconcileResult> {
  const atMs = Date.now();
  const first = await overDays(task, atMs, emptyTotals());
  let { proof } = first;
  let { windows } = first.totals;
  if (proof.gapCount > 0) {
    await sleep(proof.againMs, { summary: 'Before a second reading of the gaps' });
    const until = Object.fromEntries(Object.entries(first.totals.books).map(([name, { last }]) => [name, last.at]));
    const again = { ...first.totals, books: {}, edge: emptyTotals().edge };
    const second = await overDays(task, Date.now(), again, until);
    proof = second.proof;
    windows = second.totals.windows;
  }
  const { seen, classes, malformedCount } = first.totals;
  const rowCount = REPORTED_CLASSES.reduce((sum, name) => sum + classes[name], 0);
  const rows = gravestRows(first.rows);
  const { againMs: _, ...proven } = proof;
  const found = {
    account: task.account,
    from: new Date(task.fromMs).toISOString(),
    to: new Date(task.toMs).toISOString(),
    seen,
    windows,
    classes,
    malformed: first.malformed,
    malformedCount,
    ...proven,
    notes: [...first.notes, ...(rows.length < rowCount ? [leftOut(rows.length, rowCount)] : []), ...proof.notes],
  };
  return {
    ...found,
    disagreements: rows.filter(isDisagreement).slice(0, MAX_SHOWN),
    malformed: found.malformed.slice(0, MAX_SHOWN),
    gaps: found.gaps.slice(0, MAX_SHOWN),
    notes: found.notes.slice(0, MAX_SHOWN),
    ...(await reportReconcile({ rows, found })),
  };
}

const leftOut = (rows: number, rowCount: number): string =>
  `the report holds the ${rows} gravest of ${rowCount} rows; a shorter --from to --to shows the others`;

/** Reads the balances, one day after the other, and the balances again. */
async function overDays(task: ReconcileTask, atMs: number, start: ReconcileTotals, until?: Record<string, string>) {
  const begun = await readBalances({ ...task, atMs, totals: start });
  let totals = start;
  let rows: Finding[] = [];
  const malformed: MalformedItem[] = [];
  const notes = new Set<string>();
  for (const day of daysOf(task)) {
    const found = await reconcileDay({ ...task, atMs, day, carried: begun.carried, totals, ...(until && { until }) });
    totals = found.totals;
    rows = [...rows, ...found.rows];
    malformed.push(...found.malformed);
    for (const note of found.notes) if (notes.size < MAX_OTHERS) notes.add(note);
  }
  return {
    totals,
    rows,
    malformed,
    notes: [...notes],
    proof: await proveBalances({ ...task, ...begun, atMs, totals }),
  };
}

function checkedInput(input: unknown): ReconcileTask {
  const checked = checkedReconcileInput(input, Date.now());
  if ('errors' in checked) {
    throw invalidInput(checked.errors, 'Nothing was compared');
  }
  checkReconcile(checked.input.account);
  return checked.input;
}

const NEVER = '**Never pay again what is found here before the service has said what became of it.**';
const TODO = '**To do**: read the report, and ask the service about each row. There is nothing to decide here.';

/** What the Temporal UI shows: figures and ids, never a wallet. */
function details({ seen, classes, report }: ReconcileResult, disagreement: string | undefined): string {
  const counts = Object.entries(classes).flatMap(([name, count]) => (count > 0 ? [`| ${name} | ${count} |`] : []));
  return [
    ...(disagreement ? [NEVER, `**Why**: ${disagreement}`, TODO] : ['Everything agrees or was mended.']),
    ['| orders | |', '|---|---|', `| read from the service | ${seen} |`, ...counts].join('\n'),
    ...(report ? [`Report: \`${report.path}\``] : []),
  ].join('\n\n');
}
