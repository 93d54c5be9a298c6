import type { Command } from 'commander';
import { loadUi } from '../config.js';
import type { AttentionCode } from '../contract/attention.js';
import { searchAttribute } from '../contract/names.js';
import { EXIT, type Verbs } from './report.js';
import { rowsText } from './text.js';
import { listLink } from './ui-links.js';

/** Columns of the UI's list of workflows. */
const COLUMNS = [
  'Status',
  'Workflow ID',
  ...['attentionReason', 'attentionSince', 'amount', 'account', 'orderStatus'].map(
    (name) => searchAttribute[name as keyof typeof searchAttribute].name,
  ),
];

const RUNNING = 'ExecutionStatus = "Running"';
export const WANTS_PERSON = `${searchAttribute.needsAttention.name} = true`;

const byCode = (...codes: AttentionCode[]): string =>
  `${searchAttribute.attentionReason.name} IN (${codes.map((code) => `"${code}"`).join(', ')})`;

const byStatus = (status: string): string => `${searchAttribute.orderStatus.name} = "${status}"`;

/** Saved views of the UI: names of letters and blanks, at most 20. */
const VIEWS = {
  'Wants a person': `${WANTS_PERSON} AND ${RUNNING}`,
  'Ended and wants a person': `${WANTS_PERSON} AND ExecutionStatus != "Running"`,
  'A person decides': byStatus('parked'),
  'Waits for funds': byStatus('short'),
  'May have been paid': byCode('uncertain-create', 'conflict', 'order-missing', 'not-sent'),
  'Left of an order': byCode(
    ...(['remainder', 'follow-up-open', 'remainder-unknown', 'below-minimum', 'undocumented-end'] as const),
  ),
  'Caps rules holds funds': byCode('over-cap', 'policy', 'held', 'account-stopped', 'short-of-funds'),
  Batches: byCode('approval', 'batch-paused', 'batch-stopped', 'batch-held', 'not-written', 'row-unresolved'),
  'Changed after the end': byCode('changed-after-end'),
  'Service keys workers': byCode(
    'service-down',
    'key-refused',
    'service-silent',
    'account-not-served',
    'other-account',
  ),
  'Continues by itself': byCode('read-failed', 'unknown-status', 'shown-otherwise'),
  Security: byCode('foreign-answer', 'foreign-start'),
  'Events addresses reconciliations': byCode(
    ...(['event-undelivered', 'no-address', 'more-addresses', 'no-result', 'disagreement'] as const),
  ),
};

/** Returns a script that adds the views and sets the columns where the UI keeps them. */
export function viewsScript(namespace: string): string {
  const views = Object.entries(VIEWS).map(([name, query]) => ({ id: name, name, query, type: 'user' }));
  const columns = COLUMNS.map((label) => ({ label, pinned: false }));
  const ours = JSON.stringify({ namespace, views, columns });
  return `(({namespace:n,views:v,columns:c})=>{const s=(k,f)=>{const a=JSON.parse(localStorage.getItem(k)||"{}");a[n]=f(a[n]||[]);localStorage.setItem(k,JSON.stringify(a))};s("saved-workflow-queries",(o)=>[...o.filter(({name})=>!v.some((w)=>w.name===name)),...v]);s("namespace-workflow-table-columns",()=>c);location.reload()})(${ours})`;
}

const HOW = `The Temporal UI keeps views and columns in the browser, so nothing can create them for everybody.
In each browser, open the UI, press F12, and paste this line into the console; it adds the views and sets the columns:`;

/** Adds `views`. */
export function addViewsVerb(program: Command, verbs: Verbs): void {
  const command = program.command('views').description('saved views and columns of the Temporal UI, for your browser');
  verbs.addLocal(command, async () => {
    const views = Object.entries(VIEWS).map(([view, query]) => ({ view, query, link: listLink(query, view) }));
    const script = viewsScript(loadUi().namespace);
    const links = views.flatMap(({ view, link }) => (link ? [`${view}: ${link}`] : []));
    const text = [rowsText(['view', 'query'], views), HOW, script];
    if (links.length > 0) text.push('Or open these links; each saves one view:', ...links);
    return { exitCode: EXIT.done, json: { columns: COLUMNS, views, script }, text: text.join('\n\n') };
  });
}
