import { ActivityFailure, isCancellation, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.js';
import type { WhySilentAnswer, WhySilentInput } from '../../contract/order/activities.js';
import { ATTENTION_AFTER_MIN } from '../../contract/order/messages.js';
import { shortly } from '../activity-calls.js';
import { clearAttention, raiseAttention, showTurn } from '../order/show.js';
import type { OrderRun } from '../order/state.js';
import { shapedTurn, turnText } from './turn.js';

/** Words of each code. */
const WORDS: Record<WhySilentAnswer['code'], string> = {
  'service-down': 'the service cannot be reached',
  'key-refused': "the service refuses this account's API key",
  'service-silent': 'the service gives no clear answer about this order',
};

const SILENCES: readonly string[] = [
  'service-silent',
  'service-down',
  'key-refused',
] satisfies WhySilentAnswer['code'][];

const isToldSilent = ({ attention }: OrderRun): boolean => SILENCES.includes(attention?.code ?? '');

/** Tells a person that the service is silent about this order, and why; not where nobody asks it. `isOver`: it has spoken meanwhile. */
export async function raiseSilence(run: OrderRun, isOver: () => boolean): Promise<void> {
  if (isToldUnserved(run)) return;
  const { account, orderId, order } = run;
  const why = await whySilent({ account, ...(order ? { orderUuid: order.order_uuid } : { orderId }) });
  if (isOver() || isToldUnserved(run)) return;
  if (why.turn) showTurn(run, turnText(account, why.turn));
  else raiseSilent(run, why);
}

/** Tells a person that the service is silent about this order, for a reason that is known. */
export const raiseSilent = (run: OrderRun, { code, said }: WhySilentAnswer): void =>
  raiseAttention(
    run,
    code,
    `${WORDS[code]}${said ? ` (${said})` : ''}, so this order cannot be checked. We keep trying`,
  );

/** Takes that back: the service has spoken. */
export function endSilence(run: OrderRun): void {
  if (isToldSilent(run)) clearAttention(run, run.attention?.reason);
  showTurn(run);
}

/** Why there is no clear answer; not known where nobody takes that up soon. */
export async function whySilent(input: WhySilentInput): Promise<WhySilentAnswer> {
  const { whySilent: ask } = proxyActivities<Activities>(shortly(input.account));
  try {
    return shaped(await ask(input));
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    return { code: 'service-silent' };
  }
}

/** Whoever answers tasks may answer anything, and nothing of it may stop the workflow that is told. */
function shaped(answer: WhySilentAnswer | undefined): WhySilentAnswer {
  const { code, said, turn: place } = Object(answer) as Partial<WhySilentAnswer>;
  if (!code || !SILENCES.includes(code)) return { code: 'service-silent' };
  const turn = shapedTurn(place);
  return { code, ...(typeof said === 'string' && { said: said.slice(0, 300) }), ...(turn && { turn }) };
}

const UNSERVED = 'account-not-served';

/** True while the attention says that nobody serves the account, which is more than that there is no answer. */
export const isToldUnserved = ({ attention }: OrderRun): boolean => attention?.code === UNSERVED;

/** Tells a person that nobody serves the account; returns what takes that back. */
export function raiseUnserved(run: OrderRun, reason: string): () => void {
  raiseAttention(run, UNSERVED, reason);
  return () => clearAttention(run, reason);
}

/** Returns the words for an account without a worker. */
export const unservedFor = (account: string): string =>
  `no worker has served account ${account} for ${ATTENTION_AFTER_MIN} min`;
