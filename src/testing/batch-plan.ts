import { hash } from 'node:crypto';
import { BatchTotals } from '../activities/batch/plan/totals.js';
import type { BatchInput, BatchPlan } from '../contract/batch/batch.js';
import { sortedJson } from '../contract/json.js';
import { DEFAULT_ACCOUNT, defaultBatchId } from '../contract/names.js';
import type { RunInput } from '../contract/order/input-and-result.js';
import type { WithdrawRequest } from '../contract/order/request.js';
import type { Terms } from './before-send.js';

/** Row of a batch. */
export type Row = Pick<RunInput, 'reference'> & { order: WithdrawRequest };

export const rowsOf = ({ rows = [] }: BatchInput): Row[] =>
  rows.map(({ reference, ...order }) => ({ order, ...(reference && { reference }) }));

const hashOf = (value: unknown): string => hash('sha256', sortedJson(value));

/** Returns the plan of a batch. It warns of nothing. */
export function planOf(input: BatchInput, { rates, balances }: Terms): BatchPlan {
  const rows = rowsOf(input);
  const totals = new BatchTotals(rates);
  for (const { order } of rows) totals.add(order);
  const sha256 = hashOf(input.rows);
  const plan = {
    account: input.account ?? DEFAULT_ACCOUNT,
    batchId: input.batchId ?? defaultBatchId(sha256),
    ...{ sha256, rows: rows.length, orders: hashOf(rows), currencies: totals.plan(balances) },
    ...{ warnings: [], warningCount: 0, compensation: input.compensation ?? null },
    ...{ resend: input.resend ?? 'once', whenShort: input.whenShort, again: input.again ?? false },
    ...{ latestSend: input.latestSend, stopAfter: input.stopAfter },
  };
  return { ...plan, digest: hashOf(plan) };
}
