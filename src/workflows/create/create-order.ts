import { CancellationScope, condition, workflowInfo } from '@temporalio/workflow';
import { maskWords } from '../../contract/masking.js';
import { type CreateVerdict, windowOf } from '../../contract/order/activities.js';
import type { TakenDecision } from '../../contract/order/messages.js';
import { factsOf } from '../../contract/order/types.js';
import type { Order } from '../../contract/service-objects.js';
import { answersWithin, CREATE_TIMEOUT_MS, SEND_TIMEOUT_MS, watch } from '../activity-calls.js';
import { startLookUpsAfterEnd } from '../after-end/start.js';
import { type Looking, lookUp } from '../ask/ask.js';
import { lookUpRecovered } from '../follow/find-order.js';
import { isFollowUp } from '../identity.js';
import { close, failureOf } from '../order/end.js';
import { type Asked, parkUnless } from '../order/park.js';
import { enterPhase, raiseAttention } from '../order/show.js';
import { isReset, type OrderRun } from '../order/state.js';
import { adoptedBy } from './adopt.js';
import { type Attempted, attemptCreate, delayHasPassed, latestSendIsOver } from './attempt.js';
import { applyOutcome, type Doubt, type Facts, isCallbackNew, type Outcome } from './facts.js';
import { type Action, nextAction, type Question } from './next-action.js';
import { askedAbout, closedAs, isRefusalTold, rejected } from './questions.js';
import { duplicateOrders, foreignOrder, type Ours, type Seen, seenIn } from './readings.js';

/** Longest wait between two attempts that sent nothing. */
const MAX_WAIT_MS = 60_000;

/** An end that needs neither the service nor a worker waits for them no longer: one request, and another one where its worker went away. */
const LOOK_WITHIN_MS = 35_000;

/** A 400 on a type that moves money at once is told once absence was read twice, this far apart. */
const SECOND_READING_AFTER_MS = 5_000;

/** Callbacks that are looked into; more would let a flood of forged ones cost look-ups. */
const MAX_CALLBACKS = 20;
/** Callbacks that bring a reading of a proof forward. */
const MAX_EARLY_READINGS = 3;

/** So long the service may accept no order of the account before a person is asked about those that wait for it. */
const OUTAGE_MS = 60 * 60_000;

/** One create from its first attempt to its order: what happens between two steps is decided by `nextAction` alone. */
interface Create {
  readonly run: OrderRun;
  callbacks: number;
  earlyReadings: number;
}

/** Brings the order into being, once. Returns it, or throws the failure by which the run ends without one. */
export async function createOrder(run: OrderRun): Promise<Order> {
  const create: Create = { run, callbacks: 0, earlyReadings: 0 };
  for (;;) {
    const action = decide(create);
    if (action.do === 'take') return takeOrder(run, action.ours);
    if (action.do !== 'end') {
      await perform(create, action);
      continue;
    }
    // First, since a reset run replays this start and then has to read by itself.
    await startLookUpsAfterEnd(run);
    if (isProvenElsewhere(run, action)) note(run, { kind: 'doubted', doubt: doubtOfReset(run) });
    else if (!isChanged(create, action)) close(run, closedAs(run, action.as));
  }
}

const note = (run: OrderRun, outcome: Outcome): void => {
  run.facts = applyOutcome(run.facts, outcome);
};

const terms = ({ type }: OrderRun) => ({ movesMoneyAtOnce: factsOf(type).movesMoneyAtOnce });

function lateness(run: OrderRun): Facts['late'] {
  if (latestSendIsOver(run)) return 'over';
  if (!delayHasPassed(run)) return undefined;
  return run.facts.late === 'allowed' ? 'allowed' : 'delayed';
}

/** The facts with what came from outside since. */
function observed({ run, callbacks }: Create): Facts {
  const isHeard = run.callback.isDue && callbacks < MAX_CALLBACKS;
  const facts = isHeard ? applyOutcome(run.facts, { kind: 'callback' }) : run.facts;
  return { ...facts, late: lateness(run) };
}

function decide(create: Create): Action {
  const { run } = create;
  run.facts = observed(create);
  if (run.callback.isDue) create.callbacks += 1;
  run.callback.isDue = false;
  return nextAction(run.facts, terms(run));
}

/** What a step is about: where that changes while it waits, the step is another one. */
function nameOf(action: Action): string {
  switch (action.do) {
    case 'ask':
      return `${action.about.kind} ${'waitsFor' in action.about ? action.about.waitsFor : ''}`;
    case 'look':
      return action.why;
    case 'attempt':
      return `attempt ${action.permission}`;
    default:
      return action.do;
  }
}

const isChanged = (create: Create, action: Action): boolean =>
  nameOf(nextAction(observed(create), terms(create.run))) !== nameOf(action);

/** A run that was cut from another one by a reset ends as absent only by what itself has read. */
const isProvenElsewhere = ({ facts }: OrderRun, { as }: Extract<Action, { do: 'end' }>): boolean =>
  isReset() && facts.absence?.readIn !== workflowInfo().runId && !(as.type === 'closed' && as.mayHaveSent && as.doubt);

/** The run that this one was cut from may have sent, and may have an attempt that is alive: where, both know of a create before. */
function doubtOfReset({ sentTo, input, facts }: OrderRun): Doubt {
  const isPinned = sentTo !== undefined && !input.sentTo;
  const isOwn = isPinned && facts.everDoubted.some(({ cause }) => cause === 'uncertainCreate');
  return {
    cause: 'reset',
    untilMs: Date.now() + CREATE_TIMEOUT_MS,
    place: isOwn ? 'asked' : 'unknown',
    said: 'the workflow was reset',
  };
}

async function perform(create: Create, action: Exclude<Action, { do: 'take' | 'end' }>): Promise<void> {
  switch (action.do) {
    case 'attempt':
      return attempt(create, action);
    case 'look':
      return lookOnce(create, action);
    case 'prove absence':
      return readAbsence(create, action.why);
    case 'ask':
      return askPerson(create, action);
  }
}

/** One look at what the service shows. */
async function look(run: OrderRun, { waitingFor, ...asking }: Looking & { waitingFor: string }): Promise<Seen> {
  enterPhase(run, run.facts.everDoubted.length > 0 ? 'uncertain' : 'creating', waitingFor);
  return seenIn(run, await lookUp(run, { ...asking, alarm: true }));
}

async function lookOnce(create: Create, action: Extract<Action, { do: 'look' }>): Promise<void> {
  const { run } = create;
  const { why, delayMs } = action;
  switch (why) {
    case 'recovered': {
      enterPhase(run, 'uncertain', 'a look-up of the order, which the order list showed');
      return note(run, { kind: 'seen', seen: seenIn(run, await lookUpRecovered(run)) });
    }
    case 'callback': {
      const waitingFor = 'a look-up: a callback came late';
      const orderUuid = run.input.recovered?.order_uuid;
      return note(run, {
        kind: 'seen',
        seen: await look(run, { waitingFor, summary: 'A late callback: is it there?', orderUuid }),
      });
    }
    case 'before the end': {
      const summary = 'Is it really not there?';
      const asking = { waitingFor: 'a look-up before it ends', summary, startToCloseTimeout: SEND_TIMEOUT_MS };
      const reading = look(run, asking);
      const isAnswered = await answersWithin(reading, LOOK_WITHIN_MS, 'Before it ends unseen');
      return note(run, { kind: 'seen', seen: isAnswered || isReset() ? await reading : { kind: 'absent' } });
    }
    case 'waited': {
      const reason = run.facts.notSent?.why ?? '';
      const asking = { waitingFor: `the service: ${reason}`, summary: `Not sent: ${reason}`, delayMs };
      const scope = new CancellationScope();
      const reading = scope.run(() => look(run, asking));
      const answered = watch(reading);
      await condition(() => answered() || isChanged(create, action));
      if (answered()) return note(run, { kind: 'seen', seen: await reading });
      return scope.cancel();
    }
  }
}

async function attempt(create: Create, action: Extract<Action, { do: 'attempt' }>): Promise<void> {
  const { run } = create;
  const { permission } = action;
  // It may have to wait, and then holds whatever the budget says.
  if (permission === 'absent')
    note(run, { kind: 'permitted', wasLate: run.facts.late !== undefined, readIn: run.answeredIn });
  const verdict = await attemptCreate(run, permission, () => !isChanged(create, action));
  if (verdict.kind === 'closed') close(run, verdict);
  if (verdict.kind === 'takenBack') return note(run, { kind: 'takenBack' });
  for (const outcome of outcomesOf(run, verdict, permission)) note(run, outcome);
}

/** What a verdict means for the facts. */
function outcomesOf(run: OrderRun, verdict: Attempted, permission: string): Outcome[] {
  const nowMs = Date.now();
  const place = verdict.placeUnknown ? 'unknown' : 'asked';
  switch (verdict.kind) {
    case 'accepted':
    case 'adopted':
      return [{ kind: 'seen', seen: { ...verdict, kind: 'ours', how: verdict.kind } }];
    case 'conflict':
      return [{ kind: 'seen', seen: foreignOrder(run, verdict) }];
    case 'duplicates':
      return [{ kind: 'seen', seen: duplicateOrders(verdict) }];
    case 'notSent': {
      const waitMs = Math.min(MAX_WAIT_MS, 500 * 2 ** (run.facts.budget.notSent + 1));
      return [{ kind: 'notSent', why: verdict.reason, waitMs, isLimited: false }];
    }
    case 'rateLimited': {
      const why = 'the service answers "too many requests"';
      return [{ kind: 'notSent', why, waitMs: verdict.retryAfterMs, isLimited: true }];
    }
    case 'overCap': {
      const { kind: _, reason: why, placeUnknown: __, ...toApprove } = verdict;
      return [{ kind: 'blocked', by: 'cap', why, toApprove }];
    }
    case 'stale':
      return [{ kind: 'blocked', by: 'stale', why: verdict.reason }];
    case 'rejected': {
      const answer = verdict.excerpt === undefined ? 'HTTP 400' : `HTTP 400: ${verdict.excerpt}`;
      return [{ kind: 'refused', answer, atMs: nowMs, place }];
    }
    case 'uncertain':
      if (verdict.reset) return [{ kind: 'doubted', doubt: doubtOfReset(run) }];
      // Nothing was sent: it was looked for what an earlier run sent.
      if (permission === 'none') return [{ kind: 'seen', seen: { kind: 'absent' } }];
      return [doubtOf(verdict, nowMs, place), ...namedBy(run, verdict)];
  }
}

type Uncertain = Extract<CreateVerdict, { kind: 'uncertain' }>;

/** Absence counts neither while an attempt without an answer may still send, nor while the service asked to be left alone. */
function doubtOf({ reason, timedOut, retryAfterMs }: Uncertain, nowMs: number, place: Doubt['place']): Outcome {
  const untilMs = nowMs + (timedOut ? SEND_TIMEOUT_MS : (retryAfterMs ?? 0));
  const doubt: Doubt = { cause: 'uncertainCreate', untilMs, place, said: reason };
  return { kind: 'doubted', doubt, costs: { isLimited: retryAfterMs !== undefined } };
}

/** The create was answered with our order under another form of its id: look-ups by our id may not show it. */
const namedBy = (run: OrderRun, { underOtherId }: Uncertain): Outcome[] =>
  underOtherId
    ? [
        {
          kind: 'seen',
          seen: { ...foreignOrder(run, { order: underOtherId, differences: ['order_id'] }), isNamed: true },
        },
      ]
    : [];

/** One reading of the proof, at its time, or soon after a callback. */
async function readAbsence(create: Create, why: string): Promise<void> {
  const { run } = create;
  const { proof, refused, doubt } = run.facts;
  const isSecondOfRefusal = refused !== undefined && !refused.repeated && (proof?.readings ?? 0) < 2;
  const dueInMs = (proof?.nextAtMs ?? 0) - Date.now();
  const waitMs = isSecondOfRefusal ? Math.min(dueInMs, SECOND_READING_AFTER_MS) : dueInMs;
  const isWoken = () => run.callback.isDue && create.earlyReadings < MAX_EARLY_READINGS;
  if (
    proof &&
    waitMs > 0 &&
    (await condition(isWoken, waitMs, { summary: 'Uncertain create: before the next look' }))
  ) {
    create.earlyReadings += 1;
    decide(create);
  }
  const heard = isCallbackNew(run.facts);
  const askedAtMs = Date.now();
  const { answeredIn } = run;
  enterPhase(run, 'uncertain', `the check whether the order exists: ${why}`);
  const question = { summary: 'Uncertain create: is it there?', alarm: true, sentUntilMs: doubt?.untilMs };
  const answer = await lookUp(run, question);
  const seen = seenIn(run, answer);
  if (run.answeredIn !== answeredIn && seen.kind === 'absent') {
    return note(run, { kind: 'doubted', doubt: doubtOfReset(run) });
  }
  if (!run.strictest.pace) throw new Error('the pace comes with the first reading');
  const windowMs = windowOf(run.strictest.pace, run.type);
  const reading = { askedAtMs, answeredAtMs: Date.now(), readAtMs: answer.readAtMs };
  note(run, { kind: 'read', seen, reading, readIn: run.answeredIn, windowMs, heard });
  // Whoever waits is told of a refusal at once, unless something contradicts it, or takes it back.
  const isTold = isRefusalTold(run.facts, terms(run).movesMoneyAtOnce ? 2 : 1) && !isFollowUp(run);
  run.failure = isTold ? failureOf(run, rejected(run, run.facts.refused?.answer ?? '')) : undefined;
}

/** Keeps the workflow open until a person decides, or until what is asked has become another question. */
async function askPerson(create: Create, action: Extract<Action, { do: 'ask' }>): Promise<void> {
  const { run } = create;
  const { about } = action;
  const wasLate = run.facts.late !== undefined;
  const asking = new CancellationScope();
  const later = waitsForLater(about) ? asking.run(() => awaitLater(run)) : undefined;
  const answered = later ? watch(later) : () => false;
  const isOver = () => answered() || isChanged(create, action);
  try {
    if (about.kind === 'uncertain' && about.waitsFor === 'an accepted order') {
      enterPhase(run, 'uncertain', 'an order that the service accepts: then this one is sent again');
      await condition(isOver, OUTAGE_MS, { summary: 'Before a person is asked' });
    }
    for (let asked: Asked | undefined = askedAbout(run, about); asked; ) {
      const decision = isOver() ? undefined : await parkUnless(run, asked, isOver);
      if (decision) asked = await takeDecision(run, about, asked, decision, wasLate);
      else break;
    }
    if (later && answered()) noteLater(run, await later);
  } finally {
    asking.cancel();
  }
}

/** Questions about a send itself: 'resend' permits it there, and elsewhere only ends a wait. */
const permits = ({ kind }: Question): boolean => kind === 'uncertain' || kind === 'hidden' || kind === 'late';

const waitsForLater = (about: Question): boolean =>
  about.kind === 'hidden' || (about.kind === 'uncertain' && about.waitsFor !== undefined);

/** Reads the order once the service shows one that it accepted later; the server repeats that without history. */
async function awaitLater(run: OrderRun) {
  const { doubt = run.facts.absence?.doubt } = run.facts;
  const summary = 'Does the service show what it accepted later?';
  return seenIn(run, await lookUp(run, { summary, sentUntilMs: doubt?.untilMs, awaitsLater: true }));
}

const noteLater = (run: OrderRun, seen: Seen): void =>
  note(
    run,
    seen.kind === 'absent' ? { kind: 'later', control: seen.control ?? { whole: true } } : { kind: 'seen', seen },
  );

/** Does what a person decided; returns what to ask once more where that came to nothing. */
async function takeDecision(
  run: OrderRun,
  about: Question,
  asked: Asked,
  { action, by: who, ...decision }: TakenDecision,
  wasLate: boolean,
): Promise<Asked | undefined> {
  const by = maskWords(who);
  const atMs = Date.now();
  switch (action) {
    case 'adopt': {
      const { order_uuid: orderUuid } = decision;
      const waitingFor = `a look-up of the order that ${by} chose`;
      const seen = await look(run, { waitingFor, summary: 'Look up the chosen order', orderUuid });
      const adopted = adoptedBy(run, about, asked, { seen, by, orderUuid, differences: decision.differences ?? [] });
      if ('code' in adopted) return adopted;
      note(run, adopted.kind === 'ours' ? { kind: 'adopted', ours: adopted } : { kind: 'seen', seen: adopted });
      return undefined;
    }
    case 'close-absent':
      note(run, { kind: 'closing', by, atMs });
      return undefined;
    case 'refuse':
      note(run, { kind: 'closing', by, refused: asked.reason, atMs });
      return undefined;
    case 'approve':
      run.approved = about.kind === 'overCap' ? about.toApprove : undefined;
      note(run, { kind: 'goesOn' });
      return undefined;
    default:
      // Only where a send itself was asked about does it permit that.
      note(run, permits(about) ? { kind: 'permitted', wasLate, readIn: run.answeredIn } : { kind: 'goesOn' });
      return undefined;
  }
}

/** THE place where a run gets its order, which is looked up by its `order_uuid` from here on. */
export function takeOrder(run: OrderRun, ours: Ours): Order {
  const { order, soft = [], overruled, aboveCap } = ours;
  run.order = order;
  // A callback that came while it was created is about this order: whoever follows it looks it up.
  run.callback.isDue ||= isCallbackNew(run.facts);
  run.facts = applyOutcome(run.facts, { kind: 'adopted', ours });
  run.failure = undefined;
  // The service calls it by another form of its id.
  if (overruled?.includes('order_id')) run.orderId = order.user_order_id;
  if (!overruled && soft.length > 0) {
    const fields = soft.join(', ');
    const shown = `order ${order.order_uuid} is ours, and the service shows it in another form: ${fields}`;
    raiseAttention(run, 'shown-otherwise', shown);
  }
  // The approval of a recovered order was lost with its run.
  if (aboveCap && !run.input.recovered) raiseAttention(run, 'over-cap', aboveCap);
  return order;
}
