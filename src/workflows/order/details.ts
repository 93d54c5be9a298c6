import { workflowInfo } from '@temporalio/workflow';
import type { AttentionCode } from '../../contract/attention.js';
import { DEFAULT_ACCOUNT, parseAfterEndWorkflowId, parseReceivedWorkflowId } from '../../contract/names.js';
import type { Attention, DecisionChoice } from '../../contract/order/messages.js';
import { ITS_UUID } from '../../contract/placeholders.js';
import type { OnlyByCommand } from '../../contract/signature.js';
import { pasteable, timeShown, WHY_BY_COMMAND } from '../show.js';
import { decisionsOf } from './choices.js';
import { mayHaveSent, type OrderRun } from './state.js';

/** What must never be done while it waits, and what to do. */
interface Words {
  never: string;
  todo: string;
}

const NOT_AGAIN = 'Never start this payment under another order id';
const GOES_ON = `${NOT_AGAIN}: this one goes on.`;

/** THE words of each code. What exactly happened stands in the attention's own reason. */
const WORDS = {
  'uncertain-create': {
    never: `${NOT_AGAIN}: it may have been paid.`,
    todo: 'Ask the service about this order id. If the service has the order, choose adopt. If it does not have the order and never will, choose resend (still wanted) or close-absent (not wanted). If it cannot say, wait.',
  },
  'not-sent': {
    never: `${NOT_AGAIN}: this one can still be sent.`,
    todo: 'Correct what the reason names, then decide.',
  },
  'over-cap': {
    never: `${NOT_AGAIN}: once approved, both would be paid.`,
    todo: 'Ask whoever started this order whether the amount is right.',
  },
  conflict: {
    never: `${NOT_AGAIN}: the order that the service shows may be this payment.`,
    todo: 'Compare the values at the service, and find out whose order it is.',
  },
  'order-missing': {
    never: `${NOT_AGAIN}: the service showed it before.`,
    todo: 'Ask the service what happened to the order.',
  },
  remainder: {
    never: 'Never pay what is left by hand, nor under another order id, while this waits: it could be paid twice.',
    todo: 'Ask whoever started this order whether the rest is still wanted.',
  },
  'follow-up-open': {
    never: 'Never pay what is left by hand, nor under another order id: a follow-up may be paying it.',
    todo: 'Wait: the follow-up is still looked up. Or choose accept, which cancels what was not sent yet.',
  },
  'account-not-served': {
    never: `${NOT_AGAIN} or account while it waits: as soon as a worker starts, this order is paid.`,
    todo: 'Start a worker that serves the account. If the account name is wrong and nothing was sent, cancel the order, wait until it ends as `OrderCancelled`, then start it with the right account.',
  },
  'service-down': { never: GOES_ON, todo: 'Check the service and the network between it and the worker.' },
  'key-refused': {
    never: GOES_ON,
    todo: "Correct the account's key and secret, then restart its workers.",
  },
  'service-silent': { never: GOES_ON, todo: 'Look at the last failure of the pending activity.' },
  'other-account': {
    never: `${NOT_AGAIN} or account: it may exist where it was sent.`,
    todo: 'Set the base URL or the key back. The order then continues within two minutes.',
  },
  'read-failed': { never: GOES_ON, todo: 'Look at the failed activity in the history.' },
  'unknown-status': { never: GOES_ON, todo: 'Report the status to the developers.' },
  'shown-otherwise': { never: GOES_ON, todo: 'Compare the fields named at the service.' },
  'undocumented-end': {
    never: `${NOT_AGAIN} before you know what happened to this one.`,
    todo: 'Ask the service.',
  },
  'remainder-unknown': {
    never: 'Never pay what may be left by hand, nor under another order id, before you know what it is.',
    todo: 'Look at the balance changes of the order at the service.',
  },
  'below-minimum': {
    never: `${NOT_AGAIN}: only the rest named here is left.`,
    todo: 'Book the rest by hand.',
  },
  'changed-after-end': {
    never: 'Never pay this again, and pay nothing back, before you know what the service did.',
    todo: 'Compare both states at the service, and correct by hand whatever used the earlier one.',
  },
  'foreign-answer': {
    never: GOES_ON,
    todo: 'Find out which program uses this Temporal namespace without the payload keys.',
  },
} as const satisfies Partial<Record<AttentionCode, Words>>;

/** Why a person should look at an order. */
export type OrderAttention = keyof typeof WORDS;

/** Where a person can do no more than put right by hand what is left. */
const BY_HAND: Words = {
  never: `${NOT_AGAIN}: the money that this order moved stays moved.`,
  todo: 'Look at the order at the service, correct by hand what is left, then choose accept.',
};

/** An order that the service accepted for more than a cap or an approval allows. */
const ACCEPTED_ABOVE: Words = {
  never: GOES_ON,
  todo: 'Ask whoever started this order whether the amount is right. If it is not, ask the service to stop the order.',
};

function wordsOf(code: OrderAttention, choices: readonly DecisionChoice[]): Words {
  if (code === 'over-cap' && choices.length === 0) return ACCEPTED_ABOVE;
  return code === 'remainder' && choices.length === 1 ? BY_HAND : WORDS[code];
}

/**
 * What the Temporal UI shows as current details, most important first, in lines that fit its panel; never a wallet, e-mail or client
 * datum: everyone may read it.
 */
export function currentDetails(run: OrderRun): string {
  const { attention, order, notes } = run;
  return [
    ...(attention ? attentionDetails(run, attention) : []),
    ...(attention || !order ? [] : known(run)),
    `**${run.phase}** · waiting for ${run.waitingFor}`,
    ...(notes ? [`Skipped or failed checks: ${notes.join('; ')}`] : []),
    ...(order?.unreadable ? [`Fields of the service that cannot be read: ${order.unreadable.join(', ')}`] : []),
  ].join('\n\n');
}

function attentionDetails(run: OrderRun, { code, reason, since }: Attention): string[] {
  const choices = decisionsOf(run);
  const { never, todo } = wordsOf(code as OrderAttention, choices);
  return [
    `**${never}**`,
    ...known(run),
    `**Why** (since ${timeShown(since)}): ${reason}`,
    `**To do**: ${todo} ${choices.length > 0 ? howToDecide(run) : nothingToDecide(run)}`,
    ...choices.map((choice) => choiceShown(choice, run.strictest.onlyByCommand)),
  ];
}

/** What is known of its money, for who is asked whether it was paid. A receipt is nothing that we send. */
function known(run: OrderRun): string[] {
  const { order, attention } = run;
  if (order) return [`**At the service**: \`${order.status}\`, order \`${order.order_uuid}\``];
  if (parseReceivedWorkflowId(workflowInfo().workflowId) || ofEnded()) return [];
  if (mayHaveSent(run)) return ['**Sent**: Perhaps. The money may already have moved.'];
  // The attempt that nobody took waits on, and its attention stays until it has ended.
  if (attention?.code === 'account-not-served') return ['**Sent**: nothing, unless a worker has taken it since'];
  return ['**Sent**: nothing so far that Temporal knows of'];
}

/** What a run is about that looks up an order after its end. */
const ofEnded = () => parseAfterEndWorkflowId(workflowInfo().workflowId);

const nothingToDecide = ({ phase }: OrderRun): string =>
  phase === 'done'
    ? 'No decision is possible: the order has ended.'
    : 'No decision is possible: the order continues by itself.';

function howToDecide(run: OrderRun): string {
  if (!run.strictest.onlyByCommand)
    return 'Then send the update `decide` with one of these, and your own words in place of what stands in `<>`:';
  const { orderId, account } = run;
  const about = ofEnded();
  const received = parseReceivedWorkflowId(about?.ended ?? workflowInfo().workflowId);
  const id = received ? `${received.orderUuid} --received` : (about?.orderId ?? orderId);
  const name = `${id}${about ? ' --after-end' : ''}`;
  const of = account === DEFAULT_ACCOUNT ? '' : ` --account ${account}`;
  return `Then decide on the command line, ${WHY_BY_COMMAND[run.strictest.onlyByCommand]}: \`payment-orders order show ${name}${of}\` prints the commands.`;
}

/** What a choice does and, where it can be sent as it stands, the argument to paste. */
function choiceShown({ does, needs, decision }: DecisionChoice, onlyByCommand?: OnlyByCommand): string {
  const { action, amount, currency, kind, as, order_uuid, differences, by, reason, revision, runId } = decision;
  const what = `**${action}** ${does}`;
  if (onlyByCommand) return what;
  // Wallets stay out of the UI.
  if (needs && needs !== 'order_uuid') return `${what}; it needs \`${needs}\` besides, on the command line`;
  const lines = [
    { action, amount, currency, kind, as },
    { order_uuid: needs ? ITS_UUID : order_uuid },
    { differences },
    { by, reason },
    { revision, runId },
  ];
  return `${what}\n${pasteable(lines)}`;
}
