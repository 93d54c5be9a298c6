import {
  ActivityFailure,
  ApplicationFailure,
  condition,
  continueAsNew,
  defineUpdate,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import { ASK_POLICY_UPDATE } from '../contract/names.js';
import {
  dueOrders,
  judge,
  type Ledger,
  nextDueMs,
  noteChecked,
  openLedger,
  type PolicyQuestion,
  settle,
} from '../contract/policy/ledger.js';
import type { AskPolicy, PolicyInput } from '../contract/policy/messages.js';
import { prune } from '../contract/policy/prune.js';
import { readOnly } from './activity-calls.js';
import { beforeEnd } from './outbox.js';

/** Events after which the next run takes over: Temporal allows 2,000 updates in a run. */
const MOST_EVENTS = 4_000;
/** Maximum check time before a refusal. The worker waits for it. */
const CHECK_WITHIN_MS = 6_000;
/** One attempt of a check, so that a dead worker is noticed soon. */
const SETTLE_ATTEMPT_MS = 10_000;
/** Longest check otherwise. */
const CHECK_ONCE_MS = 600_000;

/** Sums of the account; `ledger` is undefined until they are read. */
interface Run {
  account: string;
  ledger: Ledger | undefined;
  /** Check that is under way. */
  checking?: Promise<void> | undefined;
  /** A worker of another account or key asked. The next run reads the sums again. */
  isOther?: boolean;
}

/**
 * Keeps the sums of one account and answers before each create. Its updates are judged one after
 * the other, so that orders of any number of workers never exceed a sum together.
 */
export async function policy({ account, ledger }: PolicyInput): Promise<void> {
  const run: Run = { account, ledger: ledger && openLedger(ledger) };
  setHandler(
    defineUpdate<Awaited<ReturnType<AskPolicy>>, Parameters<AskPolicy>>(ASK_POLICY_UPDATE),
    (questions, of) => answer(run, questions, of),
    {
      description: 'Asked by workers before a create: which limits would each order exceed?',
      validator: refuseUnlessQuestions,
    },
  );
  const known = run.ledger ?? openLedger(await readSums(account));
  run.ledger = known;
  await checkUntilDone(run, known);
  await beforeEnd();
  await continueAsNew<typeof policy>({ account, ...(!run.isOther && { ledger: prune(known, Date.now()) }) });
}

function readSums(account: string): Promise<Ledger> {
  const options = { ...readOnly(account), startToCloseTimeout: '2h', heartbeatTimeout: '10s' } as const;
  return proxyActivities<Activities>({ ...options, summary: 'Which orders count?' }).rebuildPolicy({ account });
}

const OTHER_SUMS =
  'the sums were read with another account or key of payees: they are read again, and nothing is sent until then. If this lasts, workers differ: give all the same base URL, key and POLICY_FILE, and list a rotated key as a predecessor';

async function answer(run: Run, questions: readonly PolicyQuestion[], of?: readonly string[]): ReturnType<AskPolicy> {
  await condition(() => run.ledger !== undefined);
  const known = run.ledger as Ledger;
  if (of && !of.includes(known.of ?? '')) {
    run.isOther = true;
    throw ApplicationFailure.nonRetryable(OTHER_SUMS, 'OtherSums');
  }
  const answers = questions.map((question) => judge(known, question, Date.now()));
  if (answers.every((one) => one.length === 0)) return answers;
  // An order that has ended may have left room.
  const untilMs = Date.now() + CHECK_WITHIN_MS;
  // Others wait, too: the first of them begins the next check.
  while (run.checking && Date.now() < untilMs) await condition(() => !run.checking, untilMs - Date.now());
  const followed = questions.flatMap(({ follows = [] }) => follows.filter((orderId) => known.open[orderId]));
  const asking = questions.map(({ orderId }) => orderId);
  const ended = dueOrders(known, Date.now(), true).filter((orderId) => !asking.includes(orderId));
  const due = [...new Set([...followed, ...ended])];
  if (due.length > 0) await check(run, known, due, CHECK_WITHIN_MS, followed);
  return questions.map((question, index) => (answers[index]?.length === 0 ? [] : judge(known, question, Date.now())));
}

/** Asks how reserved orders ended. The ledger may have changed when the answer comes. */
function check(
  run: Run,
  known: Ledger,
  orderIds: readonly string[],
  limitMs: number,
  followed: readonly string[] = [],
): Promise<void> {
  const { account } = run;
  noteChecked(known, orderIds, Date.now());
  const asked = { ...known.open };
  const orders = orderIds.flatMap((orderId) => {
    const { spends } = asked[orderId] ?? {};
    return spends ? [{ orderId, spends, ...(followed.includes(orderId) && { isFollowed: true as const }) }] : [];
  });
  const options = { ...readOnly(account), startToCloseTimeout: SETTLE_ATTEMPT_MS, scheduleToCloseTimeout: limitMs };
  const { settlePolicy } = proxyActivities<Activities>({ ...options, summary: 'How did these orders end?' });
  const checking = settlePolicy({ account, orders })
    .then((settlements) => {
      // A reservation made since is of a later run.
      for (const one of settlements) if (known.open[one.orderId] === asked[one.orderId]) settle(known, one);
    })
    .catch((error: unknown) => {
      // It is asked again later. Until then the orders count in full.
      if (!(error instanceof ActivityFailure)) throw error;
    })
    .finally(() => {
      if (run.checking === checking) run.checking = undefined;
    });
  run.checking = checking;
  return checking;
}

/** Checks orders as they become due, until the next run has to take over. */
async function checkUntilDone(run: Run, ledger: Ledger): Promise<void> {
  const { historyLength } = workflowInfo();
  const isDone = () =>
    run.isOther || workflowInfo().continueAsNewSuggested || workflowInfo().historyLength - historyLength > MOST_EVENTS;
  while (!isDone()) {
    const dueMs = nextDueMs(ledger);
    const isSooner = () => isDone() || (dueMs === undefined && nextDueMs(ledger) !== undefined);
    if (dueMs === undefined) await condition(isSooner);
    else await condition(isSooner, Math.max(dueMs - Date.now(), 1_000), { summary: 'Before orders are asked for' });
    const due = dueOrders(ledger, Date.now());
    if (due.length > 0 && !isDone()) await (run.checking ?? check(run, ledger, due, CHECK_ONCE_MS));
  }
}

const MOST_QUESTIONS = 1_000;

/** Refuses what no worker of ours sends, so that it cannot stop the workflow. */
function refuseUnlessQuestions(questions: unknown, of: unknown = []): void {
  const isQuestion = (one: Partial<PolicyQuestion> | null) =>
    typeof one?.orderId === 'string' && Array.isArray(one.spends) && Array.isArray(one.limits);
  const isList = Array.isArray(questions) && Array.isArray(of) && questions.length <= MOST_QUESTIONS;
  if (isList && questions.every(isQuestion)) return;
  throw ApplicationFailure.nonRetryable('ask takes a list of questions', 'InvalidInput');
}
