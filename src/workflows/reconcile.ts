import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type { AttentionCode } from '../contract/attention.js';
import { searchAttribute } from '../contract/names.js';
import { ATTENTION_AFTER_MIN, ATTENTION_AFTER_MS } from '../contract/order/messages.js';
import { checkedReconcileInput } from '../contract/reconcile/input.js';
import {
  disagreementOf,
  type ReconcileAccountInput,
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

const { reconcileAccount } = proxyActivities<Activities>({
  ...wholeAccount,
  summary: 'Compare orders, workflows and balances',
});

/** Compares orders, workflows and balances; starts followers, wakes workflows, reports the rest. No money moves. */
export async function reconcile(input?: ReconcileInput): Promise<ReconcileResult> {
  const task = checkedInput(input);
  const tell = (text: string, code?: AttentionCode) =>
    show(text, [{ key: searchAttribute.account, value: task.account }, ...attentionAttributes(code)]);
  tell('');
  try {
    const pending = reconcileAccount(task);
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

function checkedInput(input: unknown): ReconcileAccountInput {
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
