import { getClient } from '@temporalio/activity';
import { type Client, WithStartWorkflowOperation, WorkflowNotFoundError } from '@temporalio/client';
import { bounded } from '../../client/bounded.js';
import {
  ASK_POLICY_UPDATE,
  ORDERS_TASK_QUEUE,
  POLICY_WORKFLOW,
  policyWorkflowId,
  searchAttribute,
} from '../../contract/names.js';
import type { CreateRequest } from '../../contract/order/request.js';
import type { OrderType } from '../../contract/order/types.js';
import type { PolicyAnswer, PolicyQuestion } from '../../contract/policy/ledger.js';
import type { PolicyInput } from '../../contract/policy/messages.js';
import {
  type Breach,
  breachesOf,
  type Payout,
  type PolicyRule,
  spendsOf,
  testRules,
} from '../../contract/policy/rules.js';
import type { Rates } from '../../contract/service-objects.js';
import type { ActivityDeps } from '../deps.js';
import { askedAmounts, isJudged, payoutOf } from './payout.js';

/** Limit of one question, well within an attempt of a create. */
const ANSWER_WITHIN_MS = 12_000;
const PAUSE_MS = 200;
/** Orders in one update: Temporal takes ten updates of a workflow at a time. */
const MOST_AT_ONCE = 200;

interface Waiting {
  question: PolicyQuestion;
  resolve: (answer: PolicyAnswer) => void;
  reject: (error: unknown) => void;
}

/** Asks the policy workflow of each account: one update at a time, for all orders that wait. */
export class PolicyDesk {
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #busy = new Set<string>();

  /** Returns the limits that an order would exceed. Throws if no answer came in time. */
  ask(account: string, question: PolicyQuestion): Promise<PolicyAnswer> {
    const client = getClient();
    const queue = this.#waiting.get(account) ?? [];
    this.#waiting.set(account, queue);
    return new Promise((resolve, reject) => {
      queue.push({ question, resolve, reject });
      if (!this.#busy.has(account)) void this.#serve(client, account, queue);
    });
  }

  async #serve(client: Client, account: string, queue: Waiting[]): Promise<void> {
    this.#busy.add(account);
    // Questions of the same moment share the first update.
    await new Promise((resolve) => setImmediate(resolve));
    while (queue.length > 0) {
      const some = queue.splice(0, MOST_AT_ONCE);
      try {
        const answers = await askWorkflow(
          client,
          account,
          some.map(({ question }) => question),
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

/** Asks the workflow, which is started if it does not run. A repeated question counts once. */
async function askWorkflow(
  client: Client,
  account: string,
  questions: readonly PolicyQuestion[],
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
      typedSearchAttributes: [{ key: searchAttribute.account, value: account }],
    });
  const ask = async (): Promise<PolicyAnswer[]> => {
    const args: [readonly PolicyQuestion[]] = [questions];
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
          // The workflow may have gone over to its next run.
          if (performance.now() + PAUSE_MS > untilMs) throw error;
          await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
        }
      }
    },
    () => {
      throw new Error('the policy workflow did not answer in time');
    },
  );
}

/** Order to judge. `approved`: names of rules that persons approved for it. */
export interface Judged {
  account: string;
  type: OrderType;
  request: CreateRequest;
  rates: Rates | undefined;
  approved?: readonly string[];
}

/** Rules that need the sums of the account. */
const COUNTING: readonly PolicyRule['rule'][] = ['sum', 'count', 'new-payee', 'paid-before'];

/**
 * Returns the breaches of an order; [] if it may be sent, which reserves it. `reserve: false` only
 * asks. Throws if the sums could not be asked for.
 */
export async function breachesBefore(
  deps: ActivityDeps,
  { account, type, request, rates, approved = [] }: Judged,
  reserve: boolean,
): Promise<Breach[]> {
  const policy = deps.policies?.get(account);
  if (!policy || !isJudged(type)) return [];
  const payout = payoutOf(policy, type, request, askedAmounts(type, request, rates));
  return judgePayout(deps, account, { payout, approved }, reserve);
}

/** Judges an order that is already in the form of rules. */
export async function judgePayout(
  deps: ActivityDeps,
  account: string,
  { payout, approved }: { payout: Payout; approved: readonly string[] },
  reserve: boolean,
): Promise<Breach[]> {
  const { rules = [] } = deps.policies?.get(account) ?? {};
  // Only plans and dry runs ask for what warns.
  const asks = rules.filter(({ rule }) => !reserve || rule !== 'paid-before');
  const tested = testRules(asks, payout, approved, Date.now());
  const asked = reserve && tested.breaches.length === 0;
  const limits = tested.limits.map(({ limit }) => limit);
  const question = { orderId: payout.orderId, spends: spendsOf(payout), limits, reserve: asked };
  // Without rules about sums, nothing needs to be counted.
  const counts = rules.some(({ rule }) => COUNTING.includes(rule));
  const failed = counts && (limits.length > 0 || asked) ? await (deps.policyDesk?.ask(account, question) ?? []) : [];
  return [...tested.breaches, ...breachesOf(rules, tested, failed)];
}
