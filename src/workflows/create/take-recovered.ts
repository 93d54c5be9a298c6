import type { LookUpAnswer } from '../../contract/order/answers.js';
import { askForReading } from '../ask/ask.js';
import { enterPhase } from '../order/attention.js';
import { parkUnless } from '../order/park.js';
import { type OrderRun, showsNone } from '../order/run.js';
import { adoptChosen, closeIfAbsent, resolveConflict, takeReading } from './conflict.js';
import { lateCallbacks } from './late-callbacks.js';
import { settle } from './settle.js';

/**
 * Finds the order of a run that was rebuilt from the order list. Nothing is ever sent. The service listed the order, so
 * that its absence is a contradiction: it never ends the run by itself, a person decides.
 */
export async function takeRecovered(run: OrderRun, orderUuid: string): Promise<void> {
  enterPhase(run, 'uncertain', 'a look-up of the order, which the order list showed');
  await takeReading(run, await lookUpRecovered(run));
  if (run.order) return;
  const end = await settle(run, 'the order list showed this order');
  if (end.kind === 'conflict') return resolveConflict(run, end);
  if (end.kind === 'absent') await decideAbsence(run, orderUuid);
}

function lookUpRecovered(run: OrderRun): Promise<LookUpAnswer> {
  const request = () => ({
    type: run.type,
    account: run.account,
    input: run.input,
    ...(run.sentTo && { sentTo: run.sentTo }),
  });
  const question = { summary: 'Recovered: where does it stand?', alarm: true, checksInput: true };
  return askForReading(run, question, ({ lookUpRecovered }, more) => lookUpRecovered({ ...request(), ...more }));
}

async function decideAbsence(run: OrderRun, orderUuid: string): Promise<void> {
  let reason = `the order list showed order ${orderUuid}, and now ${showsNone(run)}`;
  const late = lateCallbacks(run, orderUuid);
  while (!run.order) {
    const decision = await parkUnless(run, reason, ['adopt', 'close-absent'], late.pending);
    if (decision?.action === 'close-absent') {
      await closeIfAbsent(run, decision.by);
    } else if (decision) {
      reason = (await adoptChosen(run, decision)).why;
    } else {
      await late.look();
    }
  }
}
