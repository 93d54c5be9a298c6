import { workflowInfo } from '@temporalio/workflow';
import { DEFAULT_ACCOUNT, parseAfterEndWorkflowId, parseReceivedWorkflowId } from '../../contract/names.js';
import type { Attention, DecisionChoice } from '../../contract/order/messages.js';
import { ITS_UUID } from '../../contract/placeholders.js';
import type { OnlyByCommand } from '../../contract/signature.js';
import { attentionWords, type OrderAttention, SENT_WORDS } from '../../contract/words.js';
import { pasteable, timeShown, WHY_BY_COMMAND } from '../show.js';
import { decisionsOf } from './choices.js';
import { mayHaveSent, type OrderRun } from './state.js';

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
  const { never, todo } = attentionWords(code as OrderAttention, choices);
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
  if (mayHaveSent(run)) return [`**Sent**: ${SENT_WORDS.perhaps}`];
  // The attempt that nobody took waits on, and its attention stays until it has ended.
  if (attention?.code === 'account-not-served') return [`**Sent**: ${SENT_WORDS.unlessTaken}`];
  return [`**Sent**: ${SENT_WORDS.nothing}`];
}

/** What a run is about that looks up an order after its end. */
const ofEnded = () => parseAfterEndWorkflowId(workflowInfo().workflowId);

const nothingToDecide = ({ phase }: OrderRun): string =>
  `No decision is possible: the order ${phase === 'done' ? 'has ended' : 'continues by itself'}.`;

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
