import { setImmediate as nextTurn } from 'node:timers/promises';
import { activityInfo, cancellationSignal, getClient, heartbeat } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { type BatchRow, type BatchSource, orderInputOf, readBatchSource } from '../../batch-files/source.js';
import { isAccountServed } from '../../client/served.js';
import type { PlanBatchInput } from '../../contract/batch/activities.js';
import type { BatchInput, BatchPlan } from '../../contract/batch/batch.js';
import type { FieldError } from '../../contract/failures.js';
import { defaultBatchId } from '../../contract/names.js';
import type { WithdrawRequest } from '../../contract/order/request.js';
import type { Balances, Rates } from '../../contract/service-objects.js';
import { openCsvReport } from '../../reports/formats.js';
import { validateBatchInput } from '../../validation/batch-input.js';
import { validateOrderInput } from '../../validation/order-input.js';
import { amountLikeThousands, checkAgainstRates, uncheckableBy } from '../../validation/rate-checks.js';
import type { Account, ActivityDeps } from '../deps.js';
import { batchFailure, invalidInput } from '../failures.js';
import { exceededCap } from '../order/limits.js';
import { receiversOf } from '../order/sent-to.js';
import { PolicyPlan } from '../policy/plan.js';
import { isSigned, onlyByCommand, protectionsIn } from '../protections.js';
import { warnOfExisting } from './plan/existing-orders.js';
import { type BadField, refusalOfRows, sameId, unserved } from './plan/refusals.js';
import { BatchTotals } from './plan/totals.js';
import { BatchWarnings, warnOfRepeats } from './plan/warnings.js';
import { reportName } from './report-batch.js';
import { digestOf, OrdersHash } from './rows/reading.js';

const UNAPPROVED: FieldError = {
  field: 'approval',
  reason: 'must be required: APPROVERS_FILE names who approves batches of this account',
};

/** Rows between two heartbeats, to let other tasks of the worker run. */
const ROWS_A_TURN = 100;
/** Maximum bad fields, all of them in memory. With more, the check ends early. */
const MOST_BAD_FIELDS = 100_000;
/** Looks before a refusal, because workers of a new installation start one by one. */
const LOOKS = 3;
/** Short, because another worker may get the next attempt. */
const LOOKS_APART_MS = 1_000;

/** Checks every row of a batch and returns its plan. One bad row refuses the whole batch. */
export function planBatchActivity(deps: ActivityDeps) {
  return async function planBatch({ account: name, input: raw, tells }: PlanBatchInput): Promise<BatchPlan> {
    const account = deps.accounts.get(name);
    const checked = validateBatchInput(raw, account?.formatChecks);
    if ('errors' in checked) throw invalidInput(checked.errors);
    if (!account) throw await noAccount([...deps.accounts.keys()], name);
    const { planOnly, approval } = checked.input;
    // A caller that may start a batch with an approval could also start one without.
    if (isSigned(deps, name) && !planOnly && approval !== 'required') throw invalidInput([UNAPPROVED]);
    try {
      const source = await readBatchSource(deps.directories, checked.input);
      const batchId = checked.input.batchId ?? defaultBatchId(source.sha256);
      const input = { ...checked.input, batchId };
      return await planOf(deps, account, source, input);
    } catch (error) {
      throw batchFailure(error, tells);
    }
  };
}

/**
 * Returns the failure: another worker may serve the account in a later attempt; after that it is
 * final.
 */
async function noAccount(accounts: readonly string[], name: string): Promise<ApplicationFailure> {
  if (activityInfo().attempt < LOOKS || (await isAccountServed(getClient(), name))) {
    const message = `this worker has no account ${name}`;
    return ApplicationFailure.create({ type: 'NoAccount', message, nextRetryDelay: LOOKS_APART_MS });
  }
  return invalidInput([unserved(name, accounts)]);
}

interface Checks {
  deps: ActivityDeps;
  account: Account;
  input: BatchInput & { batchId: string };
  rates: Rates | undefined;
  totals: BatchTotals;
  warnings: BatchWarnings;
  policy: PolicyPlan;
  lineOf: Map<string, number>;
  orders: OrdersHash;
}

async function planOf(
  deps: ActivityDeps,
  account: Account,
  source: BatchSource,
  input: BatchInput & { batchId: string },
): Promise<BatchPlan> {
  const [warnings, lineOf, orders] = [new BatchWarnings(), new Map<string, number>(), new OrdersHash()];
  const rates = await account.rates.current();
  if (!rates) warnings.addFirst('rates were not to be had: limits, precision and fees were not checked');
  const totals = new BatchTotals(rates);
  const policy = new PolicyPlan(deps, account.name, warnings);
  const rows = await checkRows({ deps, account, input, rates, totals, warnings, policy, lineOf, orders }, source);
  await policy.warnOfSums();
  await policy.paid.warn(lineOf);
  await warnOfExisting(account, lineOf, warnings);
  const balances = await balancesOf(account, warnings);
  const plan = {
    account: account.name,
    batchId: input.batchId,
    sha256: source.sha256,
    rows,
    orders: orders.hex,
    currencies: totals.plan(balances),
    warnings: warnings.shown,
    warningCount: warnings.count,
    compensation: input.compensation ?? null,
    resend: input.resend ?? 'once',
    whenShort: input.whenShort,
    again: input.again ?? false,
    latestSend: input.latestSend,
    stopAfter: input.stopAfter,
    onlyByCommand: onlyByCommand(deps, account.name),
  };
  return { ...plan, digest: digestOf(plan), ...receiversOf(deps, account.name) };
}

/** Returns the balances, without which a plan is still useful. */
async function balancesOf(account: Account, warnings: BatchWarnings): Promise<Balances | undefined> {
  try {
    return await account.service.balances();
  } catch {
    warnings.addFirst('balances were not to be had: whether they suffice is not known');
    return undefined;
  }
}

/** Checks every row and returns how many there are. Throws the failure if any is bad. */
async function checkRows(checks: Checks, source: BatchSource): Promise<number> {
  const { deps, account, input, totals, warnings, orders } = checks;
  const bad: BadField[] = [];
  let rows = 0;
  for (const row of source.rows(0, (count) => warnings.addFirst(skippedText(count)))) {
    rows = row.row;
    orders.add(row);
    if (rows % ROWS_A_TURN === 0) await takeTurn(rows);
    const { order, errors, told } = checkRow(checks, row);
    if (typeof order?.order_id === 'string') errors.push(...duplicateId(checks, row.line, order.order_id));
    if (order && errors.length === 0) errors.push(...totals.tooManyCurrencies(order));
    if (order && errors.length === 0) noteRow(checks, row.line, order, told);
    bad.push(...errors.map((error) => ({ ...error, line: row.line })));
    if (bad.length >= MOST_BAD_FIELDS) break;
  }
  if (bad.length === 0) return rows;
  const name = reportName({ account: account.name, batchId: input.batchId, sha256: source.sha256 });
  throw await refusalOf(bad, rows, { reportDir: deps.directories?.reportDir, name: `${name}.errors.csv` });
}

const skippedText = (count: number): string =>
  `${count} empty ${count === 1 ? 'row' : 'rows'} at the end of the file ${count === 1 ? 'was' : 'were'} skipped`;

async function takeTurn(rowsChecked: number): Promise<void> {
  heartbeat({ rowsChecked });
  await nextTurn();
  cancellationSignal().throwIfAborted();
}

function duplicateId({ lineOf }: Checks, line: number, orderId: string): FieldError[] {
  // A copy, because a part of a line would keep the whole line in memory.
  const id = Buffer.from(orderId).toString();
  const first = lineOf.get(id);
  if (first === undefined) lineOf.set(id, line);
  return first === undefined ? [] : [sameId(first, line)];
}

/** Returns the errors and remarks of a row. `order` is set also for a bad row, if readable. */
function checkRow(
  checks: Checks,
  row: BatchRow,
): { order?: WithdrawRequest; errors: FieldError[]; told: FieldError[] } {
  const { account, input, rates } = checks;
  const unreadable = row.problem ?? [];
  if (row.order === undefined) return { errors: unreadable, told: [] };
  const rowInput = orderInputOf(row, { ...input, account: account.name });
  const checked = validateOrderInput('withdraw', rowInput, { formatChecks: account.formatChecks });
  const beyond = (order: WithdrawRequest) =>
    rates && !uncheckable(checks, order) ? checkAgainstRates('withdraw', order, rates) : [];
  const found = 'errors' in checked ? checked.errors : beyond(checked.input.order);
  const others = found.filter(({ field }) => unreadable.every((problem) => !field.startsWith(problem.field)));
  const told = 'errors' in checked ? [] : (checked.notes ?? []);
  return { order: row.order as WithdrawRequest, errors: [...unreadable, ...others], told };
}

const uncheckable = ({ rates, account }: Checks, order: WithdrawRequest): string | undefined =>
  rates && uncheckableBy(rates, 'withdraw', order, account.formatChecks);

function noteRow(checks: Checks, line: number, order: WithdrawRequest, told: FieldError[]): void {
  const { deps, account, rates, totals, warnings } = checks;
  totals.add(order);
  checks.policy.add(line, order);
  warnOfRepeats(warnings, line, order);
  if (exceededCap(protectionsIn(deps, account).caps, 'withdraw', order, rates)) {
    warnings.add('cap', 'above the cap for one order (PAYMENT_ORDER_CAPS): each waits for a decision', line);
  }
  const thousands = rates && amountLikeThousands('withdraw', order, rates);
  if (thousands) warnings.add(thousands, thousands, line);
  const unchecked = uncheckable(checks, order);
  if (unchecked) warnings.add(unchecked, `${unchecked}: limits, precision and fees were not checked`, line);
  for (const { field, reason } of told) {
    // One warning for the same problem of many wallets.
    const warning = `${field}: ${reason.replace(/^\*{4}\w*: /, '')}`;
    warnings.add(warning, `${warning}; sent all the same`, line);
  }
}

/** Returns the failure that refuses the batch. Writes all bad fields to `name` in `reportDir`. */
async function refusalOf(
  bad: readonly BadField[],
  rows: number,
  { reportDir, name }: { reportDir: string | undefined; name: string },
): Promise<ApplicationFailure> {
  if (reportDir !== undefined) await writeAll(bad, reportDir, name);
  return refusalOfRows(bad, rows, reportDir === undefined ? '' : `; all of them are in ${name} of REPORT_DIR`);
}

async function writeAll(bad: readonly BadField[], reportDir: string, name: string): Promise<void> {
  const file = await openCsvReport(reportDir, name, ['line', 'field', 'reason']);
  try {
    for (const { line, field, reason } of bad) await file.add({ line, field, reason });
    await file.finish();
  } finally {
    await file.discard();
  }
}
