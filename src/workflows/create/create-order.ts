import { CancellationScope, condition, workflowInfo } from '@temporalio/workflow';
import { shownDifferences } from '../../contract/differences/echo.js';
import { type LookUpAnswer, SEND_TIMEOUT_MS, windowOf } from '../../contract/order/activities.js';
import { factsOf } from '../../contract/order/types.js';
import type { Order } from '../../contract/service-objects.js';
import { answersWithin, watch } from '../activity-calls.js';
import { ask, askForReading, lookUp } from '../ask/ask.js';
import { isCanary, isFollowUp } from '../identity.js';
import { close, failureOf, startLookUpsAfterEnd } from '../order/end.js';
import { emit } from '../order/events.js';
import { enterPhase, raiseAttention } from '../order/show.js';
import { answeredIn, doubtOfReset, isReset, type OrderRun } from '../order/state.js';
import { applyOutcome, record } from './apply-outcome.js';
import { askPerson } from './ask-person.js';
import { attemptCreate, delayHasPassed, latestSendIsOver } from './attempt.js';
import { awaitFunds, leaveLine } from './await-funds.js';
import { closedAs, rejected } from './closed-as.js';
import { look } from './decided.js';
import { type Facts, isCallbackNew, type Ours, type Seen, seenIn, wasEverInDoubt } from './facts.js';
import { type Action, type End, nextAction } from './next-action.js';

/** Maximum look-up time before an end: one request, and a second if the first worker is lost. */
const LOOK_WITHIN_MS = 35_000;

/** Time between the two readings after which a caller learns that an order was refused. */
const SECOND_READING_AFTER_MS = 5_000;

/** Callbacks that cause a look-up, so that a flood of forged ones costs few look-ups. */
const MAX_CALLBACKS = 20;

/** A create in progress. `nextAction` alone decides the next step. */
interface Create {
  readonly run: OrderRun;
  callbacks: number;
}

/** Creates the order, once. Returns it, or throws the failure that ends the run without an order. */
export async function createOrder(run: OrderRun): Promise<Order> {
  const create: Create = { run, callbacks: 0 };
  for (;;) {
    const action = decide(create);
    if (action.do === 'take') return setOrder(run, action.ours);
    if (isCanary(run) && waits(action)) {
      // Another canary may follow it: it must not be sent later, beside that one.
      const refused = 'a canary is sent at once or not at all';
      record(run, { kind: 'closing', by: 'the worker', refused, atMs: Date.now() });
      continue;
    }
    if (action.do !== 'end') {
      // A refusal that was reported holds only while it is proven.
      if (action.do !== 'prove absence') run.failure = undefined;
      await perform(create, action);
      continue;
    }
    // Before the reset check: a reset run replays this start, then reads absence itself.
    await startLookUpsAfterEnd(run);
    if (isProvenElsewhere(run, action)) record(run, { kind: 'doubted', doubt: doubtOfReset() });
    else if (!isChanged(create, action)) close(run, ...closedAs(run, endOf(run, action.as)));
  }
}

/** Nobody pays a canary, so that no later order confirms its absence is nobody's question. */
const endOf = (run: OrderRun, as: End): End =>
  isCanary(run) && as.type === 'closed' && as.doubt === 'noLater' ? { ...as, doubt: undefined } : as;

const waits = (action: Action): boolean =>
  action.do === 'ask' ||
  action.do === 'await resume' ||
  action.do === 'await funds' ||
  (action.do === 'look' && action.why === 'waited');

function lateness(run: OrderRun): Facts['late'] {
  if (latestSendIsOver(run)) return 'over';
  if (!delayHasPassed(run)) return undefined;
  return run.facts.late === 'allowed' ? 'allowed' : 'delayed';
}

const isHeard = ({ run: { callback }, callbacks }: Create): boolean => callback.isDue && callbacks < MAX_CALLBACKS;

/** Returns the facts, updated by callbacks and by the time. */
function observed(create: Create): Facts {
  const { run } = create;
  const facts = isHeard(create) ? applyOutcome(run.facts, { kind: 'callback', atMs: Date.now() }) : run.facts;
  return { ...facts, late: lateness(run) };
}

function decide(create: Create): Action {
  const { run } = create;
  run.facts = observed(create);
  if (run.callback.isDue) create.callbacks += 1;
  run.callback.isDue = false;
  return nextAction(run.facts, factsOf(run.type));
}

/** Names a step. If the name of the next step changes, a waiting step is obsolete. */
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
  nameOf(nextAction(observed(create), factsOf(create.run.type))) !== nameOf(action);

/** Returns true if only the run before a reset has read absence: this run has to read it itself. */
const isProvenElsewhere = ({ facts }: OrderRun, { as }: Extract<Action, { do: 'end' }>): boolean =>
  isReset() && facts.absence?.readIn !== workflowInfo().runId && !(as.type === 'closed' && as.mayHaveSent && as.doubt);

async function perform(create: Create, action: Exclude<Action, { do: 'take' | 'end' }>): Promise<void> {
  switch (action.do) {
    case 'attempt':
      return attempt(create, action);
    case 'look': {
      const seen = await lookOnce(create, action);
      return seen && record(create.run, { kind: 'seen', seen });
    }
    case 'await resume':
      return awaitResume(create, action);
    case 'prove absence':
      return readAbsence(create, action.why);
    case 'await funds':
      return awaitFunds(create.run, action.needed, () => isChanged(create, action));
    case 'ask':
      if (!wasEverInDoubt(create.run.facts)) await leaveLine(create.run);
      return askPerson(create.run, action.about, () => isChanged(create, action));
  }
}

/** Looks once. Returns undefined if the look-up is no longer needed. */
async function lookOnce(create: Create, action: Extract<Action, { do: 'look' }>): Promise<Seen | undefined> {
  const { run } = create;
  const { why, delayMs } = action;
  switch (why) {
    case 'recovered':
      return lookUpRecovered(run);
    case 'callback': {
      const orderUuid = run.input.recovered?.order_uuid;
      return look(run, 'a look-up: a callback came late', { summary: 'A late callback: is it there?', orderUuid });
    }
    case 'before the end': {
      const asking = { summary: 'Is it really not there?', startToCloseTimeout: SEND_TIMEOUT_MS };
      const reading = look(run, 'a look-up before it ends', asking);
      const isAnswered = await answersWithin(reading, LOOK_WITHIN_MS, 'Before it ends unseen');
      return isAnswered || isReset() || run.unconfirmedAtMs !== undefined ? reading : { kind: 'absent' };
    }
    case 'waited': {
      const { why: reason = '' } = run.facts.notSent ?? {};
      const asking = { summary: `Not sent: ${reason}`, delayMs };
      return unlessChanged(create, action, () => look(run, `the service: ${reason}`, asking));
    }
  }
}

/** Waits for an answer, unless the step becomes obsolete: then cancels the question. */
async function unlessChanged<T>(create: Create, action: Action, put: () => Promise<T>): Promise<T | undefined> {
  const asking = new CancellationScope();
  const pending = asking.run(put);
  const answered = watch(pending);
  await condition(() => answered() || isChanged(create, action));
  if (answered()) return pending;
  asking.cancel();
  return undefined;
}

/** Waits until the account is resumed. Costs no history, and raises no attention. */
async function awaitResume(create: Create, action: Extract<Action, { do: 'await resume' }>): Promise<void> {
  const { run } = create;
  const { why = '' } = run.facts.notSent ?? {};
  enterPhase(run, wasEverInDoubt(run.facts) ? 'uncertain' : 'creating', why);
  const asking = { summary: 'The account is stopped: until it is resumed' };
  const isResumed = await unlessChanged(create, action, async () => {
    await ask(run, asking, (activities) => activities.awaitResume({ account: run.account }));
    return true;
  });
  if (isResumed) record(run, { kind: 'resumed' });
}

/** Looks up an order that was recovered from the order list, for the first time. Checks the input. */
async function lookUpRecovered(run: OrderRun): Promise<Seen> {
  enterPhase(run, 'uncertain', 'a look-up of the order, which the order list showed');
  const question = { summary: 'Recovered: what is its status?', alarm: true, checksInput: true };
  const request = () => ({ type: run.type, account: run.account, input: run.input, sentTo: run.sentTo });
  const reading = await askForReading<LookUpAnswer>(run, question, ({ lookUpRecovered: read }, more) =>
    read({ ...request(), ...more }),
  );
  return seenIn(run, reading);
}

async function attempt(create: Create, action: Extract<Action, { do: 'attempt' }>): Promise<void> {
  const { run } = create;
  const { permission } = action;
  // A hold that came first is checked first. Later ones hold nothing up.
  const first = [...run.holdsAsked];
  if (first.length > 0) {
    await condition(() => first.every((one) => !run.holdsAsked.has(one)));
    if (isChanged(create, action)) return;
  }
  // The permission holds while the attempt waits, whatever the budget says.
  if (permission === 'absent') record(run, { kind: 'permitted', readIn: answeredIn(run) });
  run.isAttempting = true;
  try {
    const outcomes = await attemptCreate(run, permission, () => !isChanged(create, action));
    for (const outcome of outcomes) record(run, outcome);
  } finally {
    run.isAttempting = false;
  }
}

/** Reads absence once: when the proof asks for it, or early after a callback. */
async function readAbsence(create: Create, why: string): Promise<void> {
  const { run } = create;
  const { proof, refused, doubt } = run.facts;
  const isSecondOfRefusal = refused !== undefined && !refused.needsLater && (proof?.readings ?? 0) < 2;
  const dueInMs = (proof?.nextAtMs ?? 0) - Date.now();
  const waitMs = isSecondOfRefusal ? Math.min(dueInMs, SECOND_READING_AFTER_MS) : dueInMs;
  const summary = 'Uncertain create: before the next look';
  if (proof && waitMs > 0 && (await condition(() => isHeard(create), waitMs, { summary }))) decide(create);
  const askedAtMs = Date.now();
  const before = answeredIn(run);
  enterPhase(run, 'uncertain', `checking whether the order exists: ${why}`);
  const question = { summary: 'Uncertain create: is it there?', alarm: true, sentUntilMs: doubt?.untilMs };
  const answer = await lookUp(run, question);
  const seen = seenIn(run, answer);
  // A reset: this reading began before its doubt did.
  if (answeredIn(run) !== before && seen.kind === 'absent') return;
  if (!run.strictest.pace) throw new Error('the pace comes with the first reading');
  const windowMs = windowOf(run.strictest.pace, run.type);
  const reading = { askedAtMs, answeredAtMs: Date.now(), readAtMs: answer.readAtMs };
  record(run, { kind: 'read', seen, reading, readIn: answeredIn(run), windowMs });
  // Callers learn of a refusal at once; a contradiction withdraws it.
  const isReported = isRefusalReported(run.facts, factsOf(run.type).movesMoneyAtOnce ? 2 : 1) && !isFollowUp(run);
  run.failure = isReported ? failureOf(run, rejected(run, run.facts.refused?.answer ?? '')) : undefined;
}

/** Returns true if callers may learn of a refusal now. The run stays open and corrects itself. */
function isRefusalReported({ refused, found, callback, everDoubted, proof }: Facts, readings: number): boolean {
  const isPlain = refused !== undefined && !refused.needsLater && found === undefined && everDoubted.length === 1;
  return isPlain && callback === 'none' && (proof === undefined || proof.readings >= readings);
}

/** Gives the run its order, in this one place. From then on it is looked up by `order_uuid`. */
export function setOrder(run: OrderRun, ours: Ours): Order {
  const { order, soft = [], acceptedDifferences, aboveCap } = ours;
  run.order = order;
  // A callback during the create is about this order, so the order is looked up again.
  run.callback.isDue ||= isCallbackNew(run.facts);
  record(run, { kind: 'adopted', ours });
  run.failure = undefined;
  emit(run, 'order.created');
  // The run that held the approval of a recovered order is lost.
  const isAboveCap = aboveCap !== undefined && !run.input.recovered;
  const otherwise = shownDifferences(run.type, run.request, order, soft);
  const form = `order ${order.order_uuid} is ours, and the service shows it in another form: ${otherwise}`;
  const [code, reason] = isAboveCap ? (['over-cap', aboveCap] as const) : (['shown-otherwise', form] as const);
  if (isAboveCap || (!acceptedDifferences && soft.length > 0)) raiseAttention(run, code, reason);
  return order;
}
