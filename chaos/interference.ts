import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { NamespaceNotFoundError, ServiceError, WorkflowNotFoundError } from '@temporalio/client';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';
import { chance, pick } from '../sandbox/chance.js';
import { parseOrderWorkflowId } from '../src/contract/names.js';
import { NoWorkerError, type PaymentOrders, RefusedError, TemporalUnreachableError } from '../src/index.js';
import { ORDER_TYPES_QUERY } from './operator.js';

/** How often an operator interferes with one order. */
const EVERY_MS = 500;
/** What the operator does. */
const SHARES = Object.entries({ reset: 0.35, pause: 0.35, hold: 0.2, cancel: 0.1 } as const);
/** An activity stays paused for at most this long: within the settle window, and beyond it. */
const PAUSED_MS = 30_000;
/** Orders among which one is drawn. */
const DRAWN_FROM = 40;

type WorkflowRun = { workflowId: string; runId: string };

/** An operator who resets orders to any point of their history, pauses their activities, holds and cancels. */
export class Interference {
  /** Runs that a reset ended, by workflow. */
  readonly endedRuns = new Map<string, string[]>();
  readonly #counts = new Map<string, number>();
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #client: PaymentOrders['client'];

  constructor(
    private readonly orders: PaymentOrders,
    private readonly seed: string,
    private readonly everyMs = EVERY_MS,
  ) {
    this.#client = orders.client;
  }

  /** What was done how often, in words. */
  get text(): string {
    return `an operator interfered: ${[...this.#counts].map(([what, count]) => `${what} ${count}`).join(', ')}`;
  }

  /** Interferes until `signal` says stop; then resolves when nothing is paused any more. */
  async run(signal: AbortSignal): Promise<void> {
    for (let round = 0; !signal.aborted; round += 1) {
      await sleep(this.everyMs, undefined, { signal }).catch(() => undefined);
      this.#track(this.#interfere(String(round)).catch(passing));
    }
    await this.done();
  }

  /** Resolves when nothing is paused any more. */
  async done(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  /** Does to one run what `key` draws. */
  meddle(one: WorkflowRun, key: string): void {
    this.#track(this.#meddle(one, key).catch(passing));
  }

  #track(task: Promise<void>): void {
    const tracked: Promise<unknown> = task.then(() => this.#underWay.delete(tracked));
    this.#underWay.add(tracked);
    // One that fails stays, and `run` throws it in the end.
    tracked.catch(() => undefined);
  }

  #draw = (key: string, below: number): number => Math.floor(chance(this.seed, key) * below);

  async #interfere(round: string): Promise<void> {
    const open: WorkflowRun[] = [];
    for await (const { workflowId, runId } of this.#client.workflow.list({
      query: `${ORDER_TYPES_QUERY} AND ExecutionStatus = 'Running'`,
      pageSize: DRAWN_FROM,
    })) {
      if (open.push({ workflowId, runId }) === DRAWN_FROM) break;
    }
    const one = open[this.#draw(`which ${round}`, open.length)];
    if (one) await this.#meddle(one, round);
  }

  async #meddle(one: WorkflowRun, key: string): Promise<void> {
    const what = pick(SHARES, chance(this.seed, `what ${key}`)) ?? 'reset';
    if (await this.#do(what, one, key)) this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }

  /** Returns false if there is nothing to do it with. */
  async #do(what: string, one: WorkflowRun, key: string): Promise<boolean> {
    if (what === 'reset') return this.#reset(one, key);
    if (what === 'pause') return this.#pause(one, key);
    const { orderId } = parseOrderWorkflowId(one.workflowId) ?? {};
    if (orderId === undefined) return false;
    const handle = this.orders.order(orderId);
    if (what === 'cancel') await handle.cancel();
    else await handle.hold({ by: 'chaos', reason: 'a look at it' });
    return true;
  }

  async #reset({ workflowId, runId }: WorkflowRun, key: string): Promise<boolean> {
    const { events } = await this.#client.workflow.getHandle(workflowId, runId).fetchHistory();
    const points = (events ?? []).flatMap(({ workflowTaskCompletedEventAttributes, eventId }) =>
      workflowTaskCompletedEventAttributes ? [eventId] : [],
    );
    const workflowTaskFinishEventId = points[this.#draw(`where ${key}`, points.length)];
    if (!workflowTaskFinishEventId) return false;
    await this.#client.workflowService.resetWorkflowExecution({
      namespace: this.#client.options.namespace,
      workflowExecution: { workflowId, runId },
      workflowTaskFinishEventId,
      requestId: randomUUID(),
      reason: 'chaos',
    });
    this.endedRuns.set(workflowId, [...(this.endedRuns.get(workflowId) ?? []), runId]);
    return true;
  }

  async #pause({ workflowId, runId }: WorkflowRun, key: string): Promise<boolean> {
    const { raw } = await this.#client.workflow.getHandle(workflowId, runId).describe();
    const id = raw.pendingActivities?.[0]?.activityId;
    if (!id) return false;
    const { namespace } = this.#client.options;
    const target = { namespace, execution: { workflowId, runId }, id, identity: 'chaos' };
    const isReset = chance(this.seed, `as if first ${key}`) < 0.5;
    const again = { ...target, resetAttempts: isReset, resetHeartbeat: isReset };
    await this.#client.workflowService.pauseActivity(target);
    this.#track(this.#unpause(again, this.#draw(`how long ${key}`, PAUSED_MS)));
    return true;
  }

  async #unpause(
    target: Parameters<PaymentOrders['client']['workflowService']['unpauseActivity']>[0] & PausedActivity,
    afterMs: number,
  ): Promise<void> {
    await sleep(afterMs);
    await untilDone(() => this.#client.workflowService.unpauseActivity(target));
    await untilDone(() => this.#wake(target));
  }

  /**
   * Wakes an activity whose time limit was over while it was paused, as docs/repairing.md says. The server forgets that limit,
   * so an activity whose worker died stays started for ever.
   */
  async #wake({ namespace, execution, id, identity }: PausedActivity): Promise<void> {
    for (;;) {
      const { raw } = await this.#client.workflow.getHandle(execution.workflowId, execution.runId).describe();
      const pending = raw.pendingActivities?.find(({ activityId }) => activityId === id);
      if (pending?.state !== STARTED) return;
      const startToCloseTimeout = pending.activityOptions?.startToCloseTimeout;
      const limitMs = optionalTsToMs(startToCloseTimeout) ?? 0;
      const leftMs = (optionalTsToMs(pending.lastStartedTime) ?? 0) + limitMs + SURELY_OVER_MS - Date.now();
      if (leftMs <= 0) {
        const changed = { activityOptions: { startToCloseTimeout }, updateMask: { paths: ['start_to_close_timeout'] } };
        await this.#client.workflowService.updateActivityOptions({ namespace, execution, id, identity, ...changed });
        this.#counts.set('wake', (this.#counts.get('wake') ?? 0) + 1);
        return;
      }
      await sleep(leftMs);
    }
  }
}

interface PausedActivity {
  namespace: string;
  execution: WorkflowRun;
  id: string;
  identity: string;
}

const STARTED = proto.temporal.api.enums.v1.PendingActivityState.PENDING_ACTIVITY_STATE_STARTED;
/** A server that is slow has noticed by then. */
const SURELY_OVER_MS = 10_000;

/** Repeats a call while processes are killed, until it is done or its order or activity has ended. */
async function untilDone(call: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await call();
      return;
    } catch (error) {
      if (isOver(error)) return;
      passing(error);
      await sleep(EVERY_MS);
    }
  }
}

/** gRPC codes: not found, unavailable and the like. */
const OVER = new Set([3, 5, 9]);
const PASSING = new Set([1, 4, 8, 10, 13, 14, ...OVER]);

const codeOf = (error: unknown): number | undefined => Object(error instanceof ServiceError ? error.cause : error).code;

/** Returns true if the order or its activity has ended meanwhile. */
const isOver = (error: unknown): boolean => error instanceof WorkflowNotFoundError || OVER.has(codeOf(error) ?? -1);

/** Throws what is neither an order that moved on nor a process that was killed. */
function passing(error: unknown): void {
  const isKnown = [
    NamespaceNotFoundError,
    WorkflowNotFoundError,
    RefusedError,
    NoWorkerError,
    TemporalUnreachableError,
  ].some((kind) => error instanceof kind);
  if (!isKnown && !PASSING.has(codeOf(error) ?? -1)) throw error;
}
