import { ApplicationFailure } from '@temporalio/common';
import { type BadField, refusalOfRows, sameId, unserved } from '../activities/batch/plan/refusals.js';
import {
  countEnd,
  countParked,
  countRow,
  countStarted,
  countTaken,
  outcomeOf,
  type RowEnd,
} from '../activities/batch/rows/count.js';
import { firstRowOf, recordFirst, whyNoneGoesFirst } from '../activities/batch/rows/go-first.js';
import { haltReason } from '../activities/batch/rows/halt.js';
import type { Standing } from '../client/standing.js';
import type { ReportBatchAnswer } from '../contract/batch/activities.js';
import {
  BATCH_MESSAGES,
  type BatchApproval,
  type BatchInput,
  type BatchInstruction,
  type BatchPhase,
  type BatchPlan,
  type BatchResult,
  BY_ITSELF,
  DEFAULT_IN_FLIGHT,
  NONE_ENDED,
} from '../contract/batch/batch.js';
import { startDifferences } from '../contract/differences/starts.js';
import { badInput, INVALID_INPUT } from '../contract/failures.js';
import { BULK_WITHDRAW_WORKFLOW, DEFAULT_ACCOUNT, orderWorkflowId, searchAttribute } from '../contract/names.js';
import type { RunInput } from '../contract/order/input-and-result.js';
import type { OrderState } from '../contract/order/messages.js';
import { startAttributes, workflowTypeOf } from '../contract/order/types.js';
import { OTHER_RUN } from '../contract/signature.js';
import { withoutNulls } from '../contract/without-nulls.js';
import * as rules from '../workflows/batch/rules.js';
import { planOf, type Row, rowsOf } from './batch-plan.js';
import { badFields } from './before-send.js';
import { TestOrders } from './orders.js';
import { decoded, type Run } from './run.js';

/** A batch, with what its workflow would keep. */
interface TestBatch extends rules.Batch {
  run: Run;
  plan: BatchPlan;
}

const idOf = ({ account }: TestBatch, { order }: Row): string => orderWorkflowId(account, order.order_id);

/** Returns the input of a row's order. */
const askedOf = ({ input: { account, compensation, resend, whenShort }, batchId }: TestBatch, row: Row): RunInput =>
  withoutNulls({ account, compensation, resend, whenShort, batchId, ...row });

const isOther = ({ type: workflowType, input }: Run, asked: RunInput): boolean =>
  startDifferences('withdraw', asked, { workflowType, input: input as RunInput }).length > 0;

/** Returns true if the next row may start. A batch may pause or stop itself instead. */
function mayStart(batch: TestBatch): boolean {
  const { input, progress } = batch;
  if (progress.exhausted) return false;
  const at = new Date().toISOString();
  const halt = haltReason(input, progress, Date.now());
  const pause = whyNoneGoesFirst(progress);
  if (halt) batch.stopped ??= { by: BY_ITSELF, reason: halt, at };
  if (pause) {
    batch.paused ??= { by: BY_ITSELF, reason: pause, at };
    progress.unsettled = [];
    delete progress.first;
  }
  progress.exhausted = batch.stopped !== undefined;
  const hasRoom = progress.open.length < (input.maxInFlight ?? DEFAULT_IN_FLIGHT);
  if (batch.stopped || batch.paused || !hasRoom) return false;
  batch.sendingSince ??= at;
  return true;
}

/** Batches in memory, of rows from code. They decide by the product's own rules. */
export abstract class TestBatches extends TestOrders {
  readonly #batches = new Map<Run, TestBatch>();
  #isAdvancing = false;

  override clear(): void {
    super.clear();
    this.#batches.clear();
  }

  protected override begin(run: Run): void {
    if (run.type === BULK_WITHDRAW_WORKFLOW) this.#begin(run);
    else super.begin(run);
  }

  #begin(run: Run): void {
    const input = withoutNulls(run.input as BatchInput);
    const account = input.account ?? DEFAULT_ACCOUNT;
    const rows = rowsOf(input);
    const bad = rows.flatMap(({ order }, index): BadField[] => {
      const first = rows.findIndex((row) => row.order.order_id === order.order_id);
      const errors = badFields('withdraw', { order }, this.terms());
      return [...errors, ...(first < index ? [sameId(first + 1, index + 1)] : [])].map((error) => {
        return { ...error, line: index + 1 };
      });
    });
    if (!this.isServed(account)) {
      this.end(run, { failure: badInput(INVALID_INPUT, [unserved(account, this.accounts)]) });
      return;
    }
    if (bad.length > 0) {
      this.end(run, { failure: refusalOfRows(bad, rows.length) });
      return;
    }
    const plan = planOf(input, this.terms());
    const { batchId } = plan;
    const batch: TestBatch = {
      ...{ run, input, account, batchId, plan, progress: rules.noProgress() },
      ...{ phase: 'checking', waitingFor: 'a worker that reads the rows' },
    };
    this.#batches.set(run, batch);
    if (input.planOnly) this.#finish(batch);
    else if (input.approval === 'required') this.#enter(batch, 'awaitingApproval', 'an approval');
    else this.#send(batch);
  }

  protected override state(run: Run): OrderState {
    const batch = this.#batches.get(run);
    return batch ? (rules.batchState(batch, run.runId) as never) : super.state(run);
  }

  protected override cancel(run: Run): void {
    const batch = this.#batches.get(run);
    if (!batch) super.cancel(run);
    else if (rules.canStop(batch)) {
      batch.stopped = { by: 'a cancel request', reason: 'the workflow was cancelled', at: new Date().toISOString() };
      this.changed();
    }
  }

  protected override update(run: Run, name: string, argument: unknown): unknown {
    const batch = this.#batches.get(run);
    if (!batch) return super.update(run, name, argument);
    const sent = withoutNulls(argument as BatchApproval & BatchInstruction);
    const isOther = sent?.runId !== undefined && sent.runId !== run.runId;
    const refused = REFUSALS[name]?.(batch, sent) ?? (isOther ? OTHER_RUN : undefined);
    if (refused) throw ApplicationFailure.nonRetryable(refused, 'Refused');
    const { by, reason } = sent;
    const interruption = { by, reason, at: new Date().toISOString() };
    if (name === BATCH_MESSAGES.approve) {
      batch.approvedBy = by;
      this.#send(batch);
    } else if (name === BATCH_MESSAGES.resume) batch.paused = undefined;
    else if (name === BATCH_MESSAGES.pause) batch.paused = interruption;
    else batch.stopped ??= interruption;
    this.changed();
    return null;
  }

  /** Starts what may start, and counts what has ended. */
  protected override changed(): void {
    if (!this.#isAdvancing) {
      this.#isAdvancing = true;
      for (const batch of this.#batches.values()) this.#advance(batch);
      this.#isAdvancing = false;
    }
    super.changed();
  }

  #enter(batch: TestBatch, phase: BatchPhase, waitingFor: string): void {
    Object.assign(batch, { phase, waitingFor });
    this.show(batch.run, [{ key: searchAttribute.needsAttention, value: rules.attentionOf(batch) !== undefined }]);
  }

  #send(batch: TestBatch): void {
    const { balances } = this.terms();
    const reason = rules.uncovered(batch.plan, balances === undefined || batch.approvedBy !== undefined);
    if (reason) batch.paused = { by: BY_ITSELF, reason, at: new Date().toISOString() };
    this.#enter(batch, 'sending', 'the orders of the rows');
  }

  #advance(batch: TestBatch): void {
    const { input, progress, run } = batch;
    const isWaiting = batch.phase === 'awaitingApproval' && !batch.stopped;
    if (run.closed || isWaiting || batch.phase === 'checking' || batch.phase === 'done') return;
    const rows = rowsOf(input);
    for (this.#count(batch, rows); mayStart(batch); this.#count(batch, rows)) this.#startNext(batch, rows);
    const isIdle = progress.open.length === 0;
    if (progress.exhausted && isIdle) this.#finish(batch);
    else if (progress.exhausted) this.#enter(batch, 'following', 'the end of the started orders');
    else if (batch.paused)
      this.#enter(batch, 'paused', `${PAUSED}${isIdle ? '' : ', and the end of the started orders'}`);
    else this.#enter(batch, 'sending', 'the orders of the rows');
  }

  #count(batch: TestBatch, rows: readonly Row[]): void {
    const { progress } = batch;
    progress.uncertain = [];
    for (const open of [...progress.open]) {
      const run = this.newestRun(idOf(batch, rows[open.row - 1] as Row)) as Run;
      const { standing, shown } = this.standing(run);
      if (standing.kind === 'open' && standing.waits === 'uncertain') progress.uncertain.push(open.row);
      if (standing.kind === 'open' && standing.waits === 'parked') {
        countParked(progress, open, shown?.attention?.allowed.includes('close-absent') === true);
      } else countEnd(progress, open, standing);
    }
    const { maxInFlight = DEFAULT_IN_FLIGHT } = batch.input;
    const row = firstRowOf(progress);
    // Its service answers at once, and nothing waits for a window.
    const situation = { left: Number.POSITIVE_INFINITY, maxInFlight, nowMs: Date.now(), windowMs: 0 };
    recordFirst(progress, { ...situation, row: row === 'moving' ? 'clear' : row });
  }

  /** Starts the order of the next row, or attaches to the one with its id. */
  #startNext(batch: TestBatch, rows: readonly Row[]): void {
    const { account, progress, plan } = batch;
    const row = rows[progress.taken] as Row;
    const started = { row: progress.taken + 1, orderId: row.order.order_id };
    countTaken(progress, [{ ...row, row: started.row }]);
    progress.exhausted = progress.taken >= plan.rows;
    if (progress.first) progress.first.row = started.row;
    const asked = askedOf(batch, row);
    const found = this.newestRun(idOf(batch, row));
    const standing: Standing = found ? this.standing(found).standing : { kind: 'notStarted' };
    if (!found || (batch.input.again && standing.kind === 'noOrder')) {
      const pairs = startAttributes('withdraw', account, row.order, asked);
      const attention = { key: searchAttribute.needsAttention, value: false };
      this.startRun(idOf(batch, row), workflowTypeOf('withdraw'), asked, [...pairs, attention]);
      countStarted(progress, { ...started, standing: { kind: 'open' } });
    } else if (isOther(found, asked)) {
      countStarted(progress, { row: started.row, standing: { kind: 'noOrder', failure: 'OrderConflict' } });
    } else countStarted(progress, { ...started, standing });
  }

  #finish(batch: TestBatch): void {
    const { plan, input, stopped, run } = batch;
    const counted: ReportBatchAnswer = { outcomes: { ...NONE_ENDED, notStarted: 0 }, moved: {}, started: 0 };
    for (const row of rowsOf(input))
      countRow(counted, batch.sendingSince ? this.#end(batch, row) : { outcome: 'notStarted' });
    const { batchId, digest, rows } = plan;
    this.#enter(batch, 'done', 'nothing');
    const result: BatchResult = { batchId, digest, rows, ...counted, plan, ...(stopped && { stopped }) };
    this.end(run, { result });
  }

  #end(batch: TestBatch, row: Row): RowEnd {
    const found = this.newestRun(idOf(batch, row));
    if (!found) return { outcome: 'notStarted' };
    const { standing, shown } = this.standing(found);
    if (isOther(found, askedOf(batch, row))) return { outcome: 'conflict' };
    const startedBy = decoded(found.attributes[searchAttribute.batchId.name]);
    const before = found.startedAt < batch.run.startedAt || (startedBy !== undefined && startedBy !== batch.batchId);
    return { outcome: outcomeOf(standing), ...(shown?.order && { order: shown.order }), ...(before && { before }) };
  }
}

const PAUSED = 'resume or stop';

const REFUSALS: Record<string, (batch: rules.Batch, sent: BatchApproval & BatchInstruction) => string | undefined> = {
  [BATCH_MESSAGES.approve]: rules.approvalRefusal,
  [BATCH_MESSAGES.pause]: rules.pauseRefusal,
  [BATCH_MESSAGES.resume]: rules.resumeRefusal,
  [BATCH_MESSAGES.stop]: rules.stopRefusal,
};
