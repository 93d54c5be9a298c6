import { condition } from '@temporalio/workflow';
import { movesMoneyAtOnce } from '../../contract/orders.js';
import { type Conflict, judge, takeOrder } from './adopt.js';
import { lookUp } from './look-up.js';
import type { OrderRun } from './order-run.js';
import { enterPhase } from './phase.js';
import { CREATE_TIMEOUT_MS } from './profiles.js';

/** When absence is read, as parts of the settle window: the early readings find what is there, the last proves absence. */
const READING_TIMES = [0, 0.05, 0.2, 0.5, 1];

/** Fewest readings in a row that prove absence, however long they took. */
const MIN_READINGS = 3;

/** Callbacks that bring a reading forward; more are not needed, and a flood of forged ones must not cost look-ups. */
const EARLY_READINGS = 3;

/** How settling ended. 'conflict': something is there under our id that is not simply our order. */
export type Settled = { kind: 'found' } | { kind: 'absent' } | ({ kind: 'conflict' } & Conflict);

/**
 * Finds out what became of an uncertain create. 'found' leaves `run.order` set. That our order is absent, alone or beside
 * orders of somebody else, was read at least three times in a row over the whole settle window, and only once no attempt
 * of ours could still be on its way; one of somebody else's that was seen even once is never forgotten. A conflict in
 * which one of several orders is ours ends it at once. `sentUntilMs`: when the last send was over; the window begins then.
 */
export async function settle(run: OrderRun, reason: string, countAfterMs = 0, sentUntilMs?: number): Promise<Settled> {
  enterPhase(run, 'uncertain', `certainty: ${reason}`);
  let countFromMs = Date.now() + countAfterMs;
  let absentSinceMs = sentUntilMs;
  let readings = 0;
  let foreign: Settled | undefined;
  let earlyReadings = EARLY_READINGS;
  for (;;) {
    const askedAtMs = Date.now();
    const before = run.answeredIn;
    const finding = judge(run, await lookUp(run, { summary: 'Uncertain create: is it there?', alarm: true }));
    if (finding.kind === 'ours') {
      takeOrder(run, finding.order, 'adopted', finding.soft);
      return { kind: 'found' };
    }
    if (finding.kind === 'conflict') foreign = finding;
    if (finding.kind === 'conflict' && finding.ours.length > 0) return finding;
    const windowMs = settleWindowMs(run);
    if (run.answeredIn !== before) {
      // Reset meanwhile: the run before may have sent again since its last reading. Nothing read so far counts.
      countFromMs = Date.now() + CREATE_TIMEOUT_MS;
      absentSinceMs = undefined;
      readings = 0;
    }
    if (askedAtMs >= countFromMs) {
      readings += 1;
      absentSinceMs ??= Date.now();
      if (readings >= MIN_READINGS && askedAtMs - absentSinceMs >= windowMs) return foreign ?? finding;
    }
    const waitMs = nextReadingAtMs(absentSinceMs ?? countFromMs, windowMs) - Date.now();
    if (await condition(() => earlyReadings > 0 && run.callbackPending, waitMs)) {
      run.callbackPending = false;
      earlyReadings -= 1;
    }
  }
}

/** Payments get a long window, deposit types (nothing moves at create) a short one; ORDER_SETTLE_WINDOW sets both. */
export function settleWindowMs(run: OrderRun): number {
  if (!run.pace) throw new Error('the pace comes with the first reading');
  return movesMoneyAtOnce(run.type) ? run.pace.settleWindowMs.atOnce : run.pace.settleWindowMs.deposit;
}

function nextReadingAtMs(startMs: number, windowMs: number): number {
  const nowMs = Date.now();
  const times = READING_TIMES.map((part) => startMs + part * windowMs);
  return times.find((timeMs) => timeMs > nowMs) ?? nowMs + 0.05 * windowMs;
}
