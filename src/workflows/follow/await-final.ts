import { CancellationScope, condition, isCancellation, sleep } from '@temporalio/workflow';
import { beforePollsMs, type PollAnswer, type PollInput, type Silent } from '../../contract/order/activities.js';
import { isFinal, isKnownStatus, type Order } from '../../contract/service-objects.js';
import { watch } from '../activity-calls.js';
import { ask, lookUp } from '../ask/ask.js';
import { endSilence, raiseSilence, raiseSilent } from '../ask/silence.js';
import { untilDelayedStartMs } from '../create/attempt.js';
import { countCallback } from '../order/end.js';
import { enterPhase, raiseAttention } from '../order/show.js';
import { isAdopted, type OrderRun, orderIdOf } from '../order/state.js';

/** Follows the order by polling and callbacks to its first final status. */
export async function awaitFinal(run: OrderRun): Promise<Order> {
  enterPhase(run, 'following', 'the final status, by callback or by polling');
  if (isAdopted(run)) observe(run, run.order);
  else if (isFinal(run.order?.status ?? '')) run.callback.isDue = true;
  if (run.finalOrder) return run.finalOrder;
  const asking = startPolling(run);
  const final = await answerCallbacks(run, asking);
  // The end of the workflow discards the poll; an order that continues must stop it.
  if (final.status !== 'completed') asking.cancel();
  return final;
}

/** Records a look-up. The first final status holds. */
function observe(run: OrderRun, order: Order | undefined): void {
  if (!order || run.finalOrder) return;
  // Lists do not show it.
  run.order = { ...order, client_info: order.client_info ?? run.order?.client_info };
  if (isFinal(order.status)) {
    run.finalOrder = run.order;
    // An amount above a cap stays reported.
    if (run.attention?.code !== 'over-cap') run.attention = undefined;
    if (run.callback.firstAtMs !== undefined) countCallback(run, run.callback.firstAtMs);
    return;
  }
  run.callback.firstAtMs = undefined;
  if (!isKnownStatus(order.status)) {
    raiseAttention(
      run,
      'unknown-status',
      `the service reports the status "${order.status.slice(0, 40)}", which is not documented; taken as not final`,
    );
  }
}

/** Maximum reports of an unstable service or key, because each costs history. */
const MAX_SILENCES = 20;

const untold = (silences: number): PollInput['silence'] => (silences < MAX_SILENCES ? 'untold' : undefined);

/** Asks for a look-up as a callback does, at the right account. */
async function lookedUp(run: OrderRun): Promise<void> {
  const before = run.lastLookUp.atMs;
  run.callback.isDue = true;
  await condition(() => run.finalOrder !== undefined || run.lastLookUp.atMs !== before);
}

async function afterSilence(run: OrderRun, { elsewhere, keyRefused }: Silent): Promise<void> {
  if (elsewhere) await lookedUp(run);
  else if (keyRefused) raiseSilent(run, { code: 'key-refused', said: keyRefused });
  else await raiseSilence(run, () => run.finalOrder !== undefined);
}

/** Polls in the background. Reports the first undocumented status, and a long silence. */
function startPolling(run: OrderRun): CancellationScope {
  const scope = new CancellationScope();
  const poll = async () => {
    let tolerateAll = false;
    let silence: PollInput['silence'] = 'untold';
    let silences = 0;
    await beforePolls(run);
    for (;;) {
      const answer: PollAnswer = run.finalOrder ?? (await pollOnce(run, { tolerateAll, silence }));
      if (run.finalOrder) return;
      if ('silent' in answer) {
        silences += 1;
        await afterSilence(run, answer);
        silence = answer.elsewhere ? untold(silences) : 'told';
        continue;
      }
      run.lastLookUp.atMs = Date.now();
      endSilence(run);
      silence = untold(silences);
      observe(run, answer);
      tolerateAll ||= !isKnownStatus(answer.status);
    }
  };
  scope.run(poll).catch((error: unknown) => {
    if (!isCancellation(error)) throw error;
  });
  return scope;
}

/** A new order is not final, and a callback may come first. */
async function beforePolls(run: OrderRun): Promise<void> {
  const delayedMs = untilDelayedStartMs(run);
  const waitMs = delayedMs || beforePollsMs(run.strictest.pace);
  if (waitMs === 0) return;
  await sleep(waitMs, { summary: delayedMs > 0 ? 'The delayed order has not started yet' : 'Poll' });
}

function pollOnce(run: OrderRun, reports: Pick<PollInput, 'tolerateAll' | 'silence'>): Promise<PollAnswer> {
  const { account, order, sentTo } = run;
  const input: PollInput = { account, orderId: orderIdOf(run), orderUuid: order?.order_uuid, sentTo, ...reports };
  // Its first reading shows that a worker serves the account again.
  return ask(run, { activityId: 'poll-status', summary: 'Poll the status until it is final' }, ({ pollOrder }, late) =>
    pollOrder(late ? { ...input, silence: 'told' } : input),
  );
}

/**
 * Makes one look-up per callback, never two at once. Useless callbacks are answered ever more
 * slowly, so that a flood costs no more than polling.
 */
async function answerCallbacks(run: OrderRun, asking: CancellationScope): Promise<Order> {
  let spacingMs = run.strictest.pace?.pollInitialMs ?? 0;
  for (;;) {
    await condition(() => run.finalOrder !== undefined || run.callback.isDue);
    if (run.finalOrder) return run.finalOrder;
    run.callback.isDue = false;
    await confirm(run, asking);
    if (run.finalOrder) return run.finalOrder;
    await condition(() => run.finalOrder !== undefined, spacingMs, { summary: 'Before the next callback is heard' });
    spacingMs = Math.min(spacingMs * 2, run.strictest.pace?.pollMaxMs ?? spacingMs);
  }
}

/** Looks up once, unless polling finds the final status first. Ends with `asking`. */
async function confirm(run: OrderRun, asking: CancellationScope): Promise<void> {
  const question = { summary: 'Callback: status' };
  const reading = asking
    .run(() => lookUp(run, question))
    .then((answer) => {
      // An order that was seen is never absent again.
      if (answer.kind === 'found' && answer.order.user_order_id === orderIdOf(run)) observe(run, answer.order);
    });
  const answered = watch(reading);
  await condition(() => answered() || run.finalOrder !== undefined);
}
