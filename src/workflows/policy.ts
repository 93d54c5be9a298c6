import {
  ActivityFailure,
  ApplicationFailure,
  allHandlersFinished,
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
  prune,
  settle,
} from '../contract/policy/ledger.js';
import type { AskPolicy, PolicyInput } from '../contract/policy/messages.js';
import { readOnly } from './activity-calls.js';

/** Events after which the next run takes over: Temporal allows 2,000 updates in a run. */
const MOST_EVENTS = 4_000;
/** Longest check before a refusal. The asking worker waits for it. */
const CHECK_WITHIN_MS = 6_000;
/** One attempt of a check, so that a dead worker is noticed soon. */
const SETTLE_ATTEMPT_MS = 10_000;
/** Longest check otherwise. */
const CHECK_ONCE_MS = 600_000;

/**
 * Keeps the sums of one account and answers before each create. Its updates are judged one after
 * the other, so that orders of any number of workers never exceed a sum together.
 */
export async function policy(input: PolicyInput): Promise<void> {
  const { account } = input;
  let ledger = input.ledger && openLedger(input.ledger);
  let checking: Promise<void> | undefined;

  /** Asks how reserved orders ended. The ledger may have changed when the answer comes. */
  const check = (
    known: Ledger,
    orderIds: readonly string[],
    limitMs: number,
    followed: readonly string[] = [],
  ): Promise<void> => {
    noteChecked(known, orderIds, Date.now());
    const asked = { ...known.open };
    const orders = orderIds.flatMap((orderId) => {
      const { spends } = asked[orderId] ?? {};
      return spends ? [{ orderId, spends, ...(followed.includes(orderId) && { isFollowed: true as const }) }] : [];
    });
    const options = {
      ...readOnly(account),
      startToCloseTimeout: SETTLE_ATTEMPT_MS,
      summary: 'How did these orders end?',
      scheduleToCloseTimeout: limitMs,
    };
    const ended = proxyActivities<Activities>(options).settlePolicy({ account, orders });
    checking = ended
      .then((settlements) => {
        // A reservation made since is of a later run.
        for (const one of settlements) if (known.open[one.orderId] === asked[one.orderId]) settle(known, one);
      })
      .catch((error: unknown) => {
        // It is asked again later. Until then the orders count in full.
        if (!(error instanceof ActivityFailure)) throw error;
      })
      .finally(() => {
        checking = undefined;
      });
    return checking;
  };

  const ask: AskPolicy = async (questions) => {
    await condition(() => ledger !== undefined);
    const known = ledger as Ledger;
    const answers = questions.map((question) => judge(known, question, Date.now()));
    if (answers.every((answer) => answer.length === 0)) return answers;
    // An order that has ended may have left room.
    if (checking) await condition(() => checking === undefined, CHECK_WITHIN_MS);
    const followed = questions.flatMap(({ follows = [] }) => follows.filter((orderId) => known.open[orderId]));
    const asking = questions.map(({ orderId }) => orderId);
    const ended = dueOrders(known, Date.now(), true).filter((orderId) => !asking.includes(orderId));
    const due = [...new Set([...followed, ...ended])];
    if (due.length > 0) await check(known, due, CHECK_WITHIN_MS, followed);
    return questions.map((question, index) => (answers[index]?.length === 0 ? [] : judge(known, question, Date.now())));
  };
  setHandler(defineUpdate<Awaited<ReturnType<AskPolicy>>, [readonly PolicyQuestion[]]>(ASK_POLICY_UPDATE), ask, {
    description: 'Asked by workers before a create: which limits would each order exceed?',
    validator: refuseUnlessQuestions,
  });

  if (!ledger) {
    const options = { ...readOnly(account), startToCloseTimeout: '2h', heartbeatTimeout: '10s' } as const;
    const { rebuildPolicy } = proxyActivities<Activities>({ ...options, summary: 'Which orders count?' });
    ledger = openLedger(await rebuildPolicy({ account }));
  }
  const { historyLength } = workflowInfo();
  const isFull = () =>
    workflowInfo().continueAsNewSuggested || workflowInfo().historyLength - historyLength > MOST_EVENTS;
  while (!isFull()) {
    const dueMs = nextDueMs(ledger);
    const known = ledger;
    const isSooner = () => isFull() || (dueMs === undefined && nextDueMs(known) !== undefined);
    if (dueMs === undefined) await condition(isSooner);
    else await condition(isSooner, Math.max(dueMs - Date.now(), 1_000), { summary: 'Before orders are asked for' });
    const due = dueOrders(ledger, Date.now());
    if (due.length > 0 && !isFull()) await (checking ?? check(ledger, due, CHECK_ONCE_MS));
  }
  await condition(() => allHandlersFinished() && checking === undefined);
  await continueAsNew<typeof policy>({ account, ledger: prune(ledger, Date.now()) });
}

const MOST_QUESTIONS = 1_000;

/** Refuses what no worker of ours sends, so that it cannot stop the workflow. */
function refuseUnlessQuestions(questions: unknown): void {
  const isQuestion = (one: Partial<PolicyQuestion> | null) =>
    typeof one?.orderId === 'string' && Array.isArray(one.spends) && Array.isArray(one.limits);
  if (Array.isArray(questions) && questions.length <= MOST_QUESTIONS && questions.every(isQuestion)) return;
  throw ApplicationFailure.nonRetryable('ask takes a list of questions', 'InvalidInput');
}
