import { heartbeat } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { onTestFinished } from 'vitest';
import { type Sandbox, type SettingsChange, startSandbox } from '../../sandbox/index.js';
import {
  type Account,
  type Activities,
  type ActivityDeps,
  createActivities,
  GroupedLookUps,
  SharedRates,
} from '../../src/activities/index.js';
import { KEY_REFUSED } from '../../src/contract/failures.js';
import type { CreateOrderInput, OutcomeReading, Pace, ReadOutcomeInput } from '../../src/contract/order/activities.js';
import type { OrderInput } from '../../src/contract/order/input-and-result.js';
import { wholeAnswer } from '../../src/contract/order/lean.js';
import { accountId, type SentTo } from '../../src/contract/order/sent-to.js';
import type { OrderType } from '../../src/contract/order/types.js';
import { createPaymentService } from '../../src/payment-service/client.js';
import { Limiter } from '../../src/payment-service/limiter.js';
import { loadSigner } from '../../src/payment-service/signers.js';
import { orderInput } from '../support/inputs.js';

export const PACE: Pace = {
  pollInitialMs: 5_000,
  pollMaxMs: 300_000,
  settleWindowMs: { atOnce: 600_000, deposit: 15_000 },
  confirmDelayMs: 600_000,
};

export const CALLBACK = { baseUrl: 'http://127.0.0.1:1', tokenKeys: ['a-token-key-for-tests-only'] };

/** What a test may say about the attempt it stands for. */
export interface AttemptInfo {
  attempt?: number;
  runId?: string;
  /** What an attempt before it left. */
  heartbeatDetails?: unknown;
  /** By how much later than its activity it was scheduled. */
  laterMs?: number;
  /** When it was scheduled, by the server. */
  scheduledMs?: number;
  onHeartbeat?: (details: unknown, environment: MockActivityEnvironment) => void;
  /** Of a real server that knows the run; absent = there is none. */
  client?: Client;
  workflowId?: string;
}

/** Runs an activity by name as one attempt. */
export type RunActivity = <K extends keyof Activities>(
  name: K,
  input: Parameters<Activities[K]>[0],
  info?: AttemptInfo,
) => Promise<Awaited<ReturnType<Activities[K]>>>;

const logger = new DefaultLogger('ERROR');

export const RUN_ID = 'run-1';

const KEY_FINGERPRINT = '0123456789abcdef';

/** Where no account of these tests is. */
export const ELSEWHERE: SentTo = { account: accountId('https://elsewhere', KEY_FINGERPRINT) };

/** What only some tests set. */
type LabOptions = { callback?: typeof CALLBACK; requestTimeoutMs?: number } & Pick<
  ActivityDeps,
  | 'directories'
  | 'caps'
  | 'policies'
  | 'policyDesk'
  | 'audit'
  | 'restoredAtMs'
  | 'failedOverAtMs'
  | 'others'
  | 'nowMs'
  | 'attemptStartedMs'
> &
  Partial<Pick<ActivityDeps, 'pace'>> &
  Partial<Pick<Account, 'notExecutedStatuses' | 'limiter' | 'predecessors'>>;

/** The real activities with the real client for one service. */
export async function activitiesFor(
  { baseUrl, apiKey = 'key', apiSecret = 'secret' }: { baseUrl: string; apiKey?: string; apiSecret?: string },
  { requestTimeoutMs = 2_000, notExecutedStatuses, predecessors, limiter = new Limiter(), ...places }: LabOptions = {},
): Promise<RunActivity> {
  const sign = await loadSigner('hmac-sha256');
  const service = createPaymentService({ baseUrl, apiKey, apiSecret, sign, requestTimeoutMs, limiter });
  const rates = new SharedRates(() => service.rates());
  const account: Account = {
    name: 'default',
    service,
    lookUps: new GroupedLookUps(service),
    id: accountId(baseUrl, KEY_FINGERPRINT),
    ...(predecessors && { predecessors }),
    rates,
    limiter,
    notExecutedStatuses,
  };
  const activities = createActivities({
    accounts: new Map([['default', account]]),
    pace: PACE,
    // Handed out just now.
    attemptStartedMs: async () => Date.now(),
    ...places,
    // There is no server here that could give an attempt up; crash and zombie tests run with the real one.
    confirmAttempt: async (details) => heartbeat(details),
  });
  const run = async (name: keyof Activities, input: unknown, info: AttemptInfo = {}) => {
    const { attempt = 1, runId = RUN_ID, heartbeatDetails, scheduledMs = 1, laterMs = 0, onHeartbeat } = info;
    const { client, workflowId = 'order:default:x' } = info;
    const workflowExecution = { workflowId, runId };
    const scheduled = {
      scheduledTimestampMs: scheduledMs,
      currentAttemptScheduledTimestampMs: scheduledMs + laterMs,
    };
    const env = new MockActivityEnvironment(
      { attempt, heartbeatDetails, workflowExecution, ...scheduled },
      { logger, ...(client && { client }) },
    );
    if (onHeartbeat) env.on('heartbeat', (details) => onHeartbeat(details, env));
    // As workflows read it.
    return wholeAnswer(await env.run(activities[name] as (input: unknown) => Promise<unknown>, input));
  };
  return run as RunActivity;
}

/** A sandbox and activities for it, until the test ends. Orders are final at once unless a marker says otherwise. */
export async function openActivities(
  settings: SettingsChange = {},
  options: LabOptions = {},
): Promise<{ sandbox: Sandbox; run: RunActivity; sentTo: SentTo }> {
  const durationsMs = { pay: 0, execute: 0 };
  const sandbox = await startSandbox({ settings: { durationsMs, callbacks: { enabled: false }, ...settings } });
  onTestFinished(() => sandbox.close());
  const run = await activitiesFor({ baseUrl: sandbox.url, ...sandbox }, options);
  return { sandbox, run, sentTo: { account: accountId(sandbox.url, KEY_FINGERPRINT) } };
}

/** Input of a create attempt: the first one, unless `changes` says otherwise. */
export function attemptOf<T extends OrderType>(
  type: T,
  input: OrderInput<T> | unknown = orderInput(type, `${type}-1`),
  changes: Partial<CreateOrderInput> = {},
): CreateOrderInput {
  return {
    type,
    account: 'default',
    input,
    firstExecutionRunId: RUN_ID,
    startedAtMs: Date.now(),
    permission: 'first',
    followUp: false,
    ...changes,
  };
}

/** Operations asked of a sandbox, rates apart: `create`, `status`, `list`, `balances`, …, oldest first. */
export const operations = (sandbox: Sandbox): string[] =>
  sandbox.requests().flatMap(({ path }) => {
    const name = path.split('/').at(-1) ?? '';
    if (name === 'rates') return [];
    return path.includes('/order/') && name !== 'status' && name !== 'list' ? ['create'] : [name];
  });

/** What `readOutcome` reads; fails where the account is not the order's. */
export async function outcomeOf(
  run: RunActivity,
  input: ReadOutcomeInput,
  info?: AttemptInfo,
): Promise<OutcomeReading> {
  const answer = await run('readOutcome', input, info);
  if ('elsewhere' in answer) throw new Error('elsewhere');
  return answer;
}

/** The failure an activity ends with; fails when it answers or throws anything else. */
export async function failureOf(answer: Promise<unknown>): Promise<ApplicationFailure> {
  const error = await answer.then(
    (value) => new Error(`answered ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown,
  );
  if (error instanceof ApplicationFailure) return error;
  throw error;
}

/**
 * True for a failure after which the same is asked again: by the server or, once a person was told of a refused key, by the
 * workflow.
 */
export const isAskedAgain = ({ nonRetryable, type }: ApplicationFailure): boolean =>
  !nonRetryable || type === KEY_REFUSED;

/** Answers that tell nothing about an order, by fault name, wherever they come from. */
export const UNCLEAR_FAULTS = [
  '500',
  '502',
  '503',
  '504',
  '401',
  '403',
  '405',
  '302',
  'html',
  'truncated',
  'reset',
] as const;
