import { condition, defineSignal, getExternalWorkflowHandle, setHandler, workflowInfo } from '@temporalio/workflow';
import { timeShown } from '../../contract/attention.js';
import {
  FUNDS_LINE_WORKFLOW,
  FUNDS_SIGNAL,
  fundsLineWorkflowId,
  JOIN_LINE_SIGNAL,
  LEAVE_LINE_SIGNAL,
} from '../../contract/names.js';
import type { FundsNews, Place } from '../../contract/order/funds.js';
import type { ApprovedAmount } from '../../contract/order/messages.js';
import { enterPhase } from '../order/show.js';
import type { OrderRun } from '../order/state.js';
import { signalOrStart } from '../signal-or-start.js';
import { record } from './apply-outcome.js';
import { latestSendIsOver } from './attempt.js';

/** Waits before the order joins again, in case that an operator has ended the line. */
const [FIRST_WAIT_MS, LONGEST_WAIT_MS] = [10 * 60_000, 3_600_000];

/** Waits in the line of the account until the balance covers the order, and nothing is sent. */
export async function awaitFunds(
  run: OrderRun,
  { amount = '0', currency }: ApprovedAmount,
  isOver: () => boolean,
): Promise<void> {
  const { account } = run;
  const { workflowId, startTime } = workflowInfo();
  const place: Place = {
    ...{ workflowId, startedAtMs: startTime.getTime(), amount, currency },
    ...(run.input.whenShort === 'overtake' && { overtakes: true }),
  };
  const needed = `${amount} ${currency}`;
  setHandler(defineSignal<[FundsNews?]>(FUNDS_SIGNAL), (news) => hear(run, needed, news), {
    description: 'From the line of orders that wait for funds: what is missing, or that nothing is.',
  });
  enterPhase(run, 'creating', `funds: it needs ${needed}`);
  const mayLeave = () => run.funds.isGranted === true || isOver();
  for (
    let waitMs = FIRST_WAIT_MS;
    !mayLeave() && !latestSendIsOver(run);
    waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)
  ) {
    run.funds.isInLine = true;
    await signalOrStart(
      {
        ...{ type: FUNDS_LINE_WORKFLOW, workflowId: fundsLineWorkflowId(account), signal: JOIN_LINE_SIGNAL, account },
        ...{ started: { account, places: [place] }, signalled: place },
      },
      true,
    );
    await condition(mayLeave, Math.min(waitMs, untilLatestSendMs(run)), { summary: 'Until it asks for funds again' });
  }
  delete run.funds.short;
  if (isOver()) await leaveLine(run);
  // Without funds, the next attempt ends it, since its latest send time is over.
  record(run, { kind: 'unblocked' });
}

function hear(run: OrderRun, needed: string, news: FundsNews | undefined): void {
  // A signal that was written without the payload keys.
  if (!news || !run.funds.isInLine || run.funds.isGranted) return;
  const { missing, available, before = 0 } = news;
  if (missing === undefined) {
    run.funds.isGranted = true;
    return;
  }
  const { since = new Date().toISOString() } = run.funds.short ?? {};
  run.funds.short = { ...news, since };
  const [, currency = ''] = needed.split(' ');
  const balance = available === null ? 'the balance could not be read' : `${missing} ${currency} are missing`;
  const older = before > 0 ? `; ${before} older orders wait before it` : '';
  // A person may hold it meanwhile.
  if (run.phase !== 'parked')
    enterPhase(run, 'creating', `funds: it needs ${needed}, and ${balance} (since ${timeShown(since)})${older}`);
}

/** Returns how long the order may wait, in ms. The margin spares an attempt that is too early. */
const untilLatestSendMs = ({ input: { latestSend } }: OrderRun): number =>
  latestSend === undefined ? LONGEST_WAIT_MS : Math.max(0, Date.parse(latestSend) - Date.now()) + 1_000;

/**
 * Leaves the line, if the order is in it: at its final status, when the balance shows what it took,
 * or while a person holds it. What the line says from then on counts no more.
 */
export async function leaveLine(run: OrderRun): Promise<void> {
  if (!run.funds.isInLine) return;
  run.funds = {};
  const line = getExternalWorkflowHandle(fundsLineWorkflowId(run.account));
  // The line may have been ended.
  await line.signal(LEAVE_LINE_SIGNAL, workflowInfo().workflowId).catch(() => undefined);
}
