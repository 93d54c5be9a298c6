import { getClient } from '@temporalio/activity';
import {
  type Client,
  WithStartWorkflowOperation,
  type WorkflowExecutionDescription,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { bounded } from '../../client/bounded.js';
import { describeRun } from '../../client/standing.js';
import { CHECK_WITHIN, callTemporal } from '../../client/temporal-calls.js';
import { timeShown } from '../../contract/attention.js';
import {
  ASK_POLICY_UPDATE,
  BRAKE_PRIORITY,
  ORDERS_TASK_QUEUE,
  POLICY_WORKFLOW,
  policyWorkflowId,
  searchAttribute,
} from '../../contract/names.js';
import { idsOf } from '../../contract/order/sent-to.js';
import type { PolicyAnswer, PolicyQuestion } from '../../contract/policy/ledger.js';
import type { AskPolicy, PolicyInput } from '../../contract/policy/messages.js';
import { type ActivityDeps, accountOf } from '../deps.js';
import { sumsId } from './payout.js';

/** Limit of one question, well within an attempt of a create. */
const ANSWER_WITHIN_MS = 12_000;
const PAUSE_MS = 200;
/** Shorter than the pause in which new sums wait for what is being sent. */
const CLOSED_FOR_MS = 2_000;
/** Orders in one update: Temporal takes ten updates of a workflow at a time. */
const MOST_AT_ONCE = 200;
/** Measured with pages of 1,000 orders. Other requests may take nine of ten turns. */
const READS_FOR =
  '2 to 3 min for each 100,000 at 5 requests a second, up to ten times as long beside other requests; nothing is sent until then';

interface Waiting {
  question: PolicyQuestion;
  resolve: (answer: PolicyAnswer) => void;
  reject: (error: unknown) => void;
}

/** Asks the policy workflow of each account: one update at a time, for all orders that wait. */
export class PolicyDesk {
  constructor(private readonly deps: Pick<ActivityDeps, 'accounts' | 'policies'>) {}

  readonly #waiting = new Map<string, Waiting[]>();
  readonly #busy = new Set<string>();
  readonly #closedAtMs = new Map<string, number>();
  readonly #readSinceMs = new Map<string, number>();

  /** Returns the limits that an order would exceed. Throws if no answer came in time. */
  ask(account: string, question: PolicyQuestion): Promise<PolicyAnswer> {
    const client = getClient();
    this.#closedAtMs.delete(account);
    const queue = this.#waiting.get(account) ?? [];
    this.#waiting.set(account, queue);
    return new Promise((resolve, reject) => {
      queue.push({ question, resolve, reject });
      if (!this.#busy.has(account)) void this.#serve(client, account, queue);
    });
  }

  /** Ends the sums before orders are sent that they do not count. Later rules read them again. */
  async close(account: string): Promise<void> {
    const atMs = performance.now();
    if (atMs - (this.#closedAtMs.get(account) ?? Number.NEGATIVE_INFINITY) < CLOSED_FOR_MS) return;
    await end(account, 'no rule needs the sums');
    this.#closedAtMs.set(account, atMs);
  }

  /** Ends sums that were read before a time: Temporal may have forgotten orders of before. */
  async refresh(account: string, sinceMs: number): Promise<void> {
    if (sinceMs <= (this.#readSinceMs.get(account) ?? 0)) return;
    const workflowId = policyWorkflowId(account);
    const run = await describeRun(getClient(), workflowId);
    // Its first run read them. Retention may have removed that one.
    const first = await describeRun(getClient(), workflowId, run?.raw.workflowExecutionInfo?.firstRunId ?? undefined);
    const readAtMs = (first ?? run)?.startTime.getTime() ?? sinceMs;
    if (readAtMs < sinceMs) await end(account, 'Temporal was restored or failed over', run?.runId);
    this.#readSinceMs.set(account, sinceMs);
  }

  async #serve(client: Client, account: string, queue: Waiting[]): Promise<void> {
    this.#busy.add(account);
    const policy = this.deps.policies?.get(account) ?? {};
    const of = idsOf(accountOf(this.deps, account)).map((id) => sumsId(id, policy));
    // Questions of the same moment share the first update.
    await new Promise((resolve) => setImmediate(resolve));
    while (queue.length > 0) {
      const some = queue.splice(0, MOST_AT_ONCE);
      try {
        const answers = await askWorkflow(
          client,
          account,
          some.map(({ question }) => question),
          of,
        );
        for (const [index, { resolve, reject }] of some.entries()) {
          const answer = answers[index];
          if (Array.isArray(answer)) resolve(answer);
          else reject(new Error('the policy workflow gave no answer'));
        }
      } catch (error) {
        for (const { reject } of some) reject(error);
      }
    }
    this.#busy.delete(account);
  }
}

async function end(account: string, reason: string, runId?: string): Promise<void> {
  const handle = getClient().workflow.getHandle(policyWorkflowId(account), runId);
  await callTemporal(getClient(), () => handle.terminate(reason)).catch((error: unknown) => {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  });
}

/** Asks the workflow, which is started if it does not run. A repeated question counts once. */
async function askWorkflow(
  client: Client,
  account: string,
  questions: readonly PolicyQuestion[],
  of: readonly string[],
): Promise<PolicyAnswer[]> {
  const workflowId = policyWorkflowId(account);
  const input: PolicyInput = { account };
  const start = () =>
    new WithStartWorkflowOperation(POLICY_WORKFLOW, {
      workflowId,
      taskQueue: ORDERS_TASK_QUEUE,
      args: [input],
      workflowIdConflictPolicy: 'USE_EXISTING',
      staticSummary: `sums of account ${account}`,
      priority: { priorityKey: BRAKE_PRIORITY },
      typedSearchAttributes: [{ key: searchAttribute.account, value: account }],
    });
  const ask = async (): Promise<PolicyAnswer[]> => {
    const args: Parameters<AskPolicy> = [questions, of];
    try {
      return await client.workflow.getHandle(workflowId).executeUpdate(ASK_POLICY_UPDATE, { args });
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
      return client.workflow.executeUpdateWithStart(ASK_POLICY_UPDATE, { args, startWorkflowOperation: start() });
    }
  };
  const untilMs = performance.now() + ANSWER_WITHIN_MS;
  return bounded(
    client,
    { timeoutMs: ANSWER_WITHIN_MS },
    async () => {
      for (;;) {
        try {
          return await ask();
        } catch (error) {
          // The workflow may have gone over to its next run, or reads the sums again.
          if (performance.now() + PAUSE_MS > untilMs)
            throw (error instanceof WorkflowUpdateFailedError && error.cause) || error;
          await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
        }
      }
    },
    async () => {
      const run = await bounded(
        client,
        CHECK_WITHIN,
        () => describeRun(client, workflowId),
        () => undefined,
      ).catch(() => undefined);
      throw ApplicationFailure.create({ message: whySilent(run) });
    },
  );
}

/** Returns why the policy workflow did not answer, by its description. */
export function whySilent(run?: Pick<WorkflowExecutionDescription, 'raw' | 'startTime'>): string {
  const isReading = run?.raw.pendingActivities?.some(({ activityType }) => activityType?.name === 'rebuildPolicy');
  if (!isReading) return 'its workflow did not answer in time';
  // Only the first run of the workflow reads them, at its start.
  return `since ${timeShown(run?.startTime.toISOString() ?? '')} it reads the orders of 31 days: ${READS_FOR}`;
}
