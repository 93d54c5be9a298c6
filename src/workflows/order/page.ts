import { workflowInfo } from '@temporalio/workflow';
import { CANCEL_REQUESTED, ITS_UUID, literal, orderShown, sentWords, timeShown } from '../../contract/attention.js';
import { maskWords } from '../../contract/masking.js';
import { DEFAULT_ACCOUNT, parseAfterEndWorkflowId, parseReceivedWorkflowId } from '../../contract/names.js';
import type { Attention, DecisionChoice, ToKnow } from '../../contract/order/messages.js';
import type { OnlyByCommand } from '../../contract/signature.js';
import { wasEverInDoubt } from '../create/facts.js';
import { inert, page, pasteable, WHY_BY_COMMAND } from '../show.js';
import { decisionsOf } from './decision.js';
import { marksOf, type Payment } from './payment.js';
import { mayHaveSent, type OrderRun, orderIdOf } from './state.js';
import { toKnow } from './to-know.js';

/**
 * Returns the current details of the Temporal UI, most important first. They contain no wallet,
 * e-mail or client data, because everyone may read them.
 */
export function currentDetails(run: OrderRun): string {
  const { attention, order } = run;
  // Masking a payment costs time, and only a person needs it.
  const { reference } = attention ? {} : marksOf(run);
  return page([
    ...(attention ? attentionDetails(run, attention) : []),
    ...(attention || !order ? [] : known(run)),
    `**${run.phase}** · waiting for ${inert(waitingNow(run))}`,
    ...decided(run),
    ...(reference === undefined ? [] : [`**Reference**: ${literal(reference)}`]),
    ...(attention ? [] : noted(run)),
    ...(order?.unreadable ? [`Fields of the service that cannot be read: ${order.unreadable.join(', ')}`] : []),
  ]);
}

/** Returns what a person has to know to decide on a run. */
export function knownOf(run: OrderRun, choices = choicesOf(run)): ToKnow {
  const about = { orderId: orderIdOf(run), sent: sentShown(run), isInDoubt: wasEverInDoubt(run.facts) };
  return toKnow(run, { ...about, choices, isEnded: ofEnded() !== undefined });
}

const choicesOf = (run: OrderRun): DecisionChoice[] => decisionsOf(run, workflowInfo().runId);

function attentionDetails(run: OrderRun, { reason, since }: Attention): string[] {
  const choices = choicesOf(run);
  const { never, payment = {}, toDo, latestSend, cancel } = knownOf(run, choices);
  return [
    `**${never}**`,
    ...known(run),
    ...paymentShown(payment),
    ...cancelled(run),
    ...noted(run),
    `**Why** (since ${timeShown(since)}): ${inert(reason)}`,
    `**To do**: ${toDo} ${choices.length > 0 ? howToDecide(run) : nothingToDecide(run)}`,
    ...(latestSend ? [`**Latest send**: ${latestSend}`] : []),
    ...(cancel ? [cancel] : []),
    // An order that exists decides what else may be done.
    ...[...choices.filter(isAdoption), ...choices.filter((one) => !isAdoption(one))].map((choice) =>
      choiceShown(choice, run.strictest.onlyByCommand),
    ),
  ];
}

/** Returns what the order waits for. Nothing of that comes at another account. */
export const waitingNow = ({ attention, phase, waitingFor }: OrderRun): string =>
  attention?.code === 'other-account' && phase !== 'parked' ? 'the account that it was sent to' : waitingFor;

const cancelled = ({ facts }: OrderRun): string[] => (facts.cancelled ? [`**Cancelled**: ${CANCEL_REQUESTED}`] : []);

const noted = ({ notes }: OrderRun): string[] => (notes ? [`**Warnings**: ${notes.join('; ')}`] : []);

const isAdoption = ({ decision }: DecisionChoice): boolean => decision.action === 'adopt';

function paymentShown({ moves, payee, left, description, reference, batchId, startedBy }: Payment): string[] {
  const more = Object.entries({ left, description, reference, batch: batchId, 'started by': startedBy });
  const shown = [
    ...(moves ? [`${literal(moves)}${payee ? ` to ${literal(payee)}` : ''}`] : []),
    ...more.flatMap(([name, text]) => (text === undefined ? [] : [`${name} ${literal(text)}`])),
  ];
  return shown.length === 0 ? [] : [`**Payment**: ${shown.join(' · ')}`];
}

/** Returns the newest decision, which the next person has to know. */
function decided({ decisions }: OrderRun): string[] {
  const last = decisions.at(-1);
  if (!last) return [];
  const { action, by, at, reason } = last;
  return [`**Decided**: ${action} by ${literal(maskWords(by))} (${timeShown(at)}): ${literal(maskWords(reason))}`];
}

function known(run: OrderRun): string[] {
  const sent = sentShown(run);
  if (sent) return [`**Sent**: ${sent}`];
  return run.order ? [`**At the service**: ${orderShown(run.order)}`] : [];
}

/** Returns whether money was sent, in words. Nothing is sent for a receipt: undefined. */
function sentShown(run: OrderRun): string | undefined {
  const { order, attention } = run;
  const isReceipt = parseReceivedWorkflowId(ofEnded()?.ended ?? workflowInfo().workflowId) !== undefined;
  if (isReceipt || (ofEnded() && !order)) return undefined;
  return sentWords(order, mayHaveSent(run), attention?.code);
}

const ofEnded = () => parseAfterEndWorkflowId(workflowInfo().workflowId);

const nothingToDecide = ({ phase }: OrderRun): string =>
  phase === 'done'
    ? 'No decision is possible: the order has ended.'
    : 'No decision is needed: the order then continues.';

function howToDecide(run: OrderRun): string {
  if (!run.strictest.onlyByCommand)
    return 'Then send the update `decide` (*More Actions*, *Send an Update*) with one of these, and your own words in place of what stands in `<>`:';
  const { account } = run;
  const about = ofEnded();
  const received = parseReceivedWorkflowId(about?.ended ?? workflowInfo().workflowId);
  const id = received ? `${received.orderUuid} --received` : (about?.orderId ?? run.request.order_id);
  const name = `${id}${about ? ' --after-end' : ''}`;
  const of = account === DEFAULT_ACCOUNT ? '' : ` --account ${account}`;
  return `Then decide on the command line, ${WHY_BY_COMMAND[run.strictest.onlyByCommand]}: \`payment-orders order show ${name}${of}\` prints the commands.`;
}

/** Returns what a choice does and, if possible, the argument to paste. */
function choiceShown({ does, needs, decision }: DecisionChoice, onlyByCommand?: OnlyByCommand): string {
  const { action, amount, currency, kind, as, order_uuid, differences, by, reason, revision, runId } = decision;
  const what = `**${action}** ${does}`;
  if (onlyByCommand) return what;
  // The UI shows no wallets.
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
