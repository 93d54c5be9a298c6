import { condition } from '@temporalio/workflow';
import { shownDifferences } from '../../contract/differences/echo.js';
import type { CreateVerdict, DuplicateOrders, LookUpReading } from '../../contract/order/activities.js';
import { factsOf } from '../../contract/order/types.js';
import type { Order } from '../../contract/service-objects.js';
import { CREATE_TIMEOUT_MS, SEND_TIMEOUT_MS } from '../activity-calls.js';
import { type Asking, lookUp } from '../ask/ask.js';
import { enterPhase } from '../order/show.js';
import type { Candidate, OrderRun } from '../order/state.js';
import { AbsenceProof } from './absence-proof.js';
import type { ProvenAbsence } from './may-resend.js';

/** More of them would hide the rest of what a person reads; each is named in the reason. */
export const MAX_CANDIDATES = 3;

/** An order of ours at the service. */
export interface Ours {
  kind: 'ours';
  order: Order;
  how: 'accepted' | 'adopted';
  /** Fields that the service shows in another form, which a person is told while the order goes on. */
  soft?: readonly string[];
  /** Fields in spite of which a person adopted it. */
  overruled?: string[];
}

/** Something under our id that is not simply our order. */
export interface Conflict {
  kind: 'conflict';
  reason: string;
  /** Which of several orders are what we asked for. */
  ours: readonly string[];
  /** What a person may adopt: those that are ours or, where none is, what was shown. */
  candidates: readonly Candidate[];
  /** Nothing more is to be read before a person is asked. */
  askAtOnce?: true;
  /** The one order that is not like ours, and in which fields. */
  foreign?: { order: Order; differences: string[]; soft?: readonly string[] };
}

/** What the service shows. `said`: how the status operation shows no order, for people. */
export type Seen = Ours | { kind: 'absent'; said?: string } | Conflict;

/** Sorts a reading: our order, none, or a conflict. Every adoption passes here, and with it the echo check. */
export function seenIn(asked: Pick<OrderRun, 'type' | 'request'>, reading: LookUpReading): Seen {
  switch (reading.kind) {
    case 'absent':
      return { kind: 'absent', said: reading.said };
    case 'duplicates':
      return duplicateOrders(reading);
    case 'found': {
      const { order, differences, soft } = reading;
      return differences.length === 0
        ? { kind: 'ours', order, how: 'adopted', soft }
        : foreignOrder(asked, { order, differences, soft });
    }
  }
}

/** An order that the echo check refused. */
export function foreignOrder(
  { type, request }: Pick<OrderRun, 'type' | 'request'>,
  foreign: NonNullable<Conflict['foreign']>,
): Conflict {
  const { order, differences } = foreign;
  const shown = shownDifferences(type, request, order, differences);
  return {
    kind: 'conflict',
    reason: `order ${order.order_uuid} has our id but differs in ${shown}`,
    ours: [],
    candidates: [{ order_uuid: order.order_uuid, differences }],
    foreign,
    // Only our id has another form: no later reading makes that another payment.
    ...(differences.join() === 'order_id' && { askAtOnce: true }),
  };
}

/** Several orders under our id: which one to follow is for a person to say, even where only one is like ours. */
export function duplicateOrders({ orderUuids, ours }: DuplicateOrders): Conflict {
  const like = ours.length > 0 ? `like this payment: ${ours.join(', ')}` : 'none is this payment';
  const reason = `the service shows several orders under our id: ${orderUuids.join(', ')} (${like})`;
  const shown = ours.length > 0 ? ours : orderUuids;
  const candidates = shown.slice(0, MAX_CANDIDATES).map((order_uuid) => ({ order_uuid }));
  return { kind: 'conflict', reason, ours, candidates };
}

/** How to look, and what operators read meanwhile. */
interface Looking extends Asking {
  waitingFor: string;
  phase?: 'uncertain' | 'creating';
  /** Looks for this order instead of our order id. */
  orderUuid?: string;
}

/** One look at what the service shows, by a look-up. `readAtMs`: when it was read, on the clock of the worker. */
export async function look(
  run: OrderRun,
  { waitingFor, phase = 'uncertain', ...asking }: Looking,
): Promise<Seen & { readAtMs: number }> {
  enterPhase(run, phase, waitingFor);
  const reading = await lookUp(run, { ...asking, alarm: true });
  return { ...seenIn(run, reading), readAtMs: reading.readAtMs };
}

const BEFORE_READING = { summary: 'Uncertain create: before the next look' };

const showsOurs = (seen: Seen): boolean =>
  seen.kind === 'ours' || (seen.kind === 'conflict' && (seen.ours.length > 0 || seen.askAtOnce === true));

/** Callbacks that bring a reading forward; more are not needed, and a flood of forged ones must not cost look-ups. */
const EARLY_READINGS = 3;

/**
 * Finds out what became of an uncertain create. Absent means: read at least three times in a row over the whole window, none
 * while an attempt may be on its way, by two clocks (`absence-proof.ts`). An order of somebody else that was seen even once
 * is never forgotten; a conflict in which one of several orders is ours ends it at once. `sentUntilMs`: when the last send was
 * over; the window begins then.
 */
export async function settle(run: OrderRun, reason: string, countAfterMs = 0, sentUntilMs?: number): Promise<Seen> {
  const asking = { waitingFor: `certainty: ${reason}`, summary: 'Uncertain create: is it there?' };
  const startedAtMs = Date.now();
  let provenSinceMs = sentUntilMs ?? startedAtMs;
  let proof: AbsenceProof | undefined;
  let foreign: Conflict | undefined;
  let earlyReadings = EARLY_READINGS;
  for (;;) {
    const askedAtMs = Date.now();
    const { answeredIn } = run;
    const { accountSwitches } = run.sends;
    const seen = await look(run, asking);
    if (showsOurs(seen)) return seen;
    if (seen.kind === 'conflict') foreign = { ...seen, askAtOnce: true };
    const windowMs = settleWindowMs(run);
    const { readAtMs } = seen;
    proof ??= new AbsenceProof({ serverMs: startedAtMs, workerMs: readAtMs }, countAfterMs, sentUntilMs);
    const now = { serverMs: Date.now(), workerMs: readAtMs };
    const anew = whyAnew(run, { answeredIn, accountSwitches, provenSinceMs });
    if (anew) {
      // Reset meanwhile: the run before may have sent again since its last reading, and may have an attempt that is alive.
      const aliveMs = anew === 'reset' ? CREATE_TIMEOUT_MS : startedAtMs + countAfterMs - Date.now();
      proof = new AbsenceProof(now, Math.max(0, aliveMs), anew === 'restored' ? run.sends.restoredAtMs : undefined);
      provenSinceMs = Math.max(provenSinceMs, run.sends.restoredAtMs ?? 0);
    }
    if (proof.isProvenBy({ askedAtMs, answeredAtMs: Date.now(), readAtMs }, windowMs)) {
      run.sends.restoreSettledMs = run.sends.restoredAtMs;
      return foreign ?? seen;
    }
    const waitMs = proof.nextReadingInMs(now, windowMs);
    if (await condition(() => earlyReadings > 0 && run.callbackPending, waitMs, BEFORE_READING)) {
      run.callbackPending = false;
      earlyReadings -= 1;
    }
  }
}

/**
 * Settles for an end that says that there is none: absence counts that this very run has read. What a reset run replays was read by
 * the run before it, and another one cut from that may have sent since.
 */
export async function proveAbsent(run: OrderRun, reason: string): Promise<Seen> {
  for (;;) {
    const seen = await settle(run, reason);
    if (seen.kind !== 'absent' || run.answeredIn === run.runId) return seen;
  }
}

/**
 * Why nothing that was read before this reading counts: its run was reset, the order is looked for at another account from now on, or
 * Temporal was restored, and what was sent after the backup may be shown a whole window later. Undefined = all of it counts.
 */
function whyAnew(
  { answeredIn, sends }: OrderRun,
  before: { answeredIn: string; accountSwitches: number; provenSinceMs: number },
): 'reset' | 'elsewhere' | 'restored' | undefined {
  if (answeredIn !== before.answeredIn) return 'reset';
  if (sends.accountSwitches !== before.accountSwitches) return 'elsewhere';
  return (sends.restoredAtMs ?? 0) > before.provenSinceMs ? 'restored' : undefined;
}

/** Why a create is uncertain, and what tells until when it may still arrive. */
type Unsettled = Omit<Extract<CreateVerdict, { kind: 'uncertain' }>, 'kind'>;

/**
 * From when on absence counts: not while an attempt that ended without an answer of its own may still send, nor while the
 * service asked to be left alone, so that nothing is sent again before that time either.
 */
function countAfterMs({ reset, timedOut, retryAfterMs = 0 }: Unsettled): number {
  if (reset) return CREATE_TIMEOUT_MS;
  return timedOut ? SEND_TIMEOUT_MS : retryAfterMs;
}

/** Settles the creates of this run; what is not our order is kept as evidence of whether to send again. */
export async function settleSends(run: OrderRun, unsettled: Unsettled): Promise<Ours | undefined> {
  run.sends.settled = undefined;
  const seen = await settle(run, unsettled.reason, countAfterMs(unsettled));
  if (seen.kind === 'ours') return seen;
  run.sends.settled = seen.kind === 'absent' ? provenBy(run) : seen;
  return undefined;
}

/** That absence was read just now, by this run and where it asks. */
const provenBy = ({ sends: { accountSwitches }, answeredIn }: OrderRun): ProvenAbsence => ({
  kind: 'absent',
  atSwitch: accountSwitches,
  provenIn: answeredIn,
});

/**
 * Settles what an earlier run of this order id, or what a restored Temporal has forgotten, may have sent: that it did not is read
 * over a whole settle window. After an earlier run it begins with the first reading of this one, whatever clock said when that
 * run ended; after a restore, with the restore.
 */
export async function settleEarlierRun(
  run: OrderRun,
  why = 'an earlier run of this order id may have sent it',
): Promise<Seen> {
  const sinceMs = run.input?.sentUntil === undefined ? run.sends.restoredAtMs : undefined;
  // It may have been stopped while its request was under way, which nothing takes back.
  const seen = await settle(run, why, sinceMs === undefined ? SEND_TIMEOUT_MS : 0, sinceMs);
  if (seen.kind !== 'absent') return seen;
  // From here on this run is like any other first one.
  run.sends.earlierInDoubt = false;
  if (run.sends.accountUnknown && run.sends.count === 0) {
    // Nobody knows where the earlier run sent: a person is asked, and told of it.
    run.sends.unclear = why;
    run.sends.settled = provenBy(run);
  }
  run.sends.restoreSettledMs = run.sends.restoredAtMs;
  return seen;
}

/** Payments get a long window, deposit types (nothing moves at create) a short one; ORDER_SETTLE_WINDOW sets both. */
function settleWindowMs(run: OrderRun): number {
  if (!run.pace) throw new Error('the pace comes with the first reading');
  return factsOf(run.type).movesMoneyAtOnce ? run.pace.settleWindowMs.atOnce : run.pace.settleWindowMs.deposit;
}
