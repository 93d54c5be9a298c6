import type { WorkflowInfo } from '@temporalio/workflow';
import { setActivator } from '@temporalio/workflow/lib/global-attributes.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { shownState } from '../../../src/api/orders.js';
import {
  ATTENTION_WORDS,
  CANCEL_REQUESTED,
  type OrderAttention,
  REQUEST_CANCELLATION,
} from '../../../src/contract/attention.js';
import type { DecideAction } from '../../../src/contract/order/messages.js';
import type { Order } from '../../../src/contract/service-objects.js';
import { withoutWallets } from '../../../src/contract/shown-json.js';
import { stateText } from '../../../src/starter/text.js';
import { currentDetails, knownOf } from '../../../src/workflows/order/page.js';
import { orderState, showCancelled } from '../../../src/workflows/order/show.js';
import { type OrderRun, openRun } from '../../../src/workflows/order/state.js';

const INFO = { workflowId: 'order:shop:w-1', runId: 'r-1', firstExecutionRunId: 'r-1', startTime: new Date() };
// Modules are shared by the files of a process, so none can be replaced here: the views see a run as workflow code does.
beforeAll(() => setActivator({ info: INFO as WorkflowInfo } as Parameters<typeof setActivator>[0]));
afterAll(() => setActivator(undefined));

const ABOUT = { orderId: 'w-1', account: 'shop' };

/** What is decided in each kind of attention. */
const KINDS: Record<OrderAttention, readonly DecideAction[]> = {
  'uncertain-create': ['resend', 'close-absent', 'adopt'],
  'not-sent': ['resend', 'close-absent'],
  held: ['release', 'refuse'],
  'over-cap': ['approve', 'refuse'],
  'short-of-funds': ['resend', 'refuse', 'approve'],
  policy: ['approve', 'refuse'],
  conflict: ['close-absent'],
  'order-missing': ['adopt', 'close-absent'],
  remainder: ['accept'],
  'follow-up-open': ['accept'],
  'account-not-served': [],
  'service-down': [],
  'key-refused': [],
  'service-silent': [],
  'other-account': ['approve'],
  'read-failed': [],
  'unknown-status': [],
  'shown-otherwise': [],
  'undocumented-end': [],
  'remainder-unknown': [],
  'below-minimum': [],
  'changed-after-end': ['accept'],
  'foreign-answer': [],
};
/** Kinds about an order that the service has. */
const EXISTS: readonly string[] = ['remainder', 'follow-up-open', 'below-minimum', 'changed-after-end'];

const PAID =
  'paid before: 12.50 usd were paid to this payee on 2026-11-02 by w-0; check first whether it is the same payment';
const ORDER = { order_uuid: 'u-1', status: 'completed_partially', user_order_id: 'w-1', unreadable: ['fee'] } as Order;

function parkedFor(code: OrderAttention, isCancelled: boolean): OrderRun {
  const order = { order_id: 'w-1', currency: 'usd', network: 'card', amount: '12.50', wallet: '4111111111111111' };
  const run = openRun('withdraw', {
    ...{ account: 'shop', order: { ...order, description: 'rent' }, latestSend: '2099-01-02T03:04:05Z' },
    ...{ reference: 'inv/7', batchId: 'payroll-7', metadata: { startedBy: 'ann' } },
  });
  const allowed = [...KINDS[code]];
  return {
    ...run,
    ...{ phase: allowed.length > 0 ? 'parked' : 'following', notes: [PAID, 'rates could not be read'] },
    attention: { code, reason: `because of ${code}`, since: '2026-11-03T04:05:06.000Z', allowed },
    facts: { ...run.facts, cancelled: isCancelled },
    ...(EXISTS.includes(code) && { order: ORDER }),
    decisions: [{ action: 'resend', by: 'ben', reason: 'he may', revision: 2, at: '2026-11-03T04:00:00.000Z' }],
  };
}

/** Words alone, without what each view adds for the eye. */
const plain = (text: string): string => text.replace(/[`*]|\\"/g, '').replace(/\s+/g, ' ');

function viewsOf(run: OrderRun) {
  const state = { ...orderState(run), ...knownOf(run) };
  const [page, text] = [currentDetails(run), stateText(ABOUT, state)];
  const [json = '', api = ''] = [state, shownState(state)].map((one) =>
    JSON.stringify(withoutWallets(one)).replace('"cancelRequested":true', CANCEL_REQUESTED),
  );
  return { page, text, json, api };
}

/** The facts on a page, one per line, or per part of the payment. How to decide differs by view. */
const factsOn = (page: string): string[] =>
  [...page.matchAll(/^\*\*(Sent|Payment|Warnings|Latest send|Cancelled)\*\*: (.*)$/gm)]
    .flatMap(([, name, text = '']) => (name === 'Payment' ? text.split(/ · | to /) : text.split('; ')))
    .map((fact) => fact.replace(/^(?:left|description|reference|batch|started by) /, ''));

test.for(
  (Object.keys(KINDS) as OrderAttention[]).flatMap((code) =>
    [false, true].map((cancelled) => [code, cancelled] as const),
  ),
)('all views of %s (cancelled: %s) show what a person has to know', ([code, isCancelled]) => {
  const views = viewsOf(parkedFor(code, isCancelled));
  const { never, todo } = ATTENTION_WORDS[code];
  const expected = [
    ...[PAID, 'rates could not be read', `because of ${code}`],
    ...['12.50 usd', '****1111 (card)', 'rent', 'inv/7', 'payroll-7', 'ann'],
    // What is left here can only be accepted, which has words of its own.
    ...(code === 'remainder' ? ['stays moved', 'correct by hand'] : [never, ...todo.split(/\{\w+\}/)]),
    ...(isCancelled ? ['Cancellation requested'] : []),
    ...(['held', 'policy', 'not-sent'].includes(code) ? ['2099-01-02 03:04:05 UTC. Later, nothing is sent'] : []),
    ...(['held', 'policy'].includes(code) && !isCancelled ? [REQUEST_CANCELLATION] : []),
    ...factsOn(views.page),
  ];
  for (const [view, text] of Object.entries(views)) {
    for (const fact of expected) expect(plain(text), view).toContain(plain(fact));
  }
  expect(factsOn(views.page).length).toBeGreaterThan(6);
});

test('no view of an order at another account promises what only its own account can bring', () => {
  const waitingFor = 'an order that the service accepts after it: then this one is sent again';
  const run: OrderRun = { ...parkedFor('other-account', false), phase: 'uncertain', waitingFor };
  for (const [view, text] of Object.entries(viewsOf(run))) {
    expect(text, view).not.toContain('sent again');
    expect(text, view).toContain('the account that it was sent to');
  }
  for (const text of Object.values(viewsOf({ ...run, attention: undefined }))) expect(text).toContain('sent again');
});

test('a cancellation leaves the question about another account as it is, since only its own answer ends it', () => {
  const run = parkedFor('other-account', true);
  const { attention, revision } = run;
  showCancelled(run);
  expect(run.attention).toBe(attention);
  expect(run.revision).toBe(revision);
});
