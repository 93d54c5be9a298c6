import type { Report } from '../report.js';
import { median } from '../statistics.js';
import { valuesOf } from '../table.js';
import type { Costs } from './simulate.js';

/** What is reckoned with where no run of the bench is given: one worker on two cores, beside the server. */
export const PAPER: Costs = {
  requestsPerOrder: 3,
  ordersPerPoll: 1_000,
  workerCpuMs: 40,
  serverCpuMs: 47,
  historyBytes: 8_200,
};

/** Where each figure of a report stands: its table, the beginning of its row, its column. */
const MEASURED: readonly [keyof Costs, table: string, row: string, figure: string][] = [
  ['requestsPerOrder', 'orders', 'ours by callback', 'requests'],
  ['workerCpuMs', 'orders', 'ours by callback', 'workerCpuMs'],
  ['serverCpuMs', 'orders', 'ours by callback', 'serverCpuMs'],
  ['historyBytes', 'orders', 'ours by callback', 'bytes'],
];

/** The costs that a run of the bench measured, and which of them it did. What it did not measure is on paper. */
export function costsOf({ runs }: Report): { costs: Costs; measured: readonly (keyof Costs)[] } {
  const tables = runs.flatMap((run) => run.tables);
  const found = MEASURED.flatMap(([cost, table, name, figure]) => {
    const rows = tables.filter(({ id }) => id === table).flatMap(({ rows }) => rows);
    const values = rows.filter((row) => row.name.startsWith(name)).map((row) => valuesOf(row, { id: figure }));
    // The last row is the one with the most orders.
    const last = values.findLast((rounds) => rounds.length > 0);
    return last ? [[cost, median(last)] as const] : [];
  });
  return { costs: { ...PAPER, ...Object.fromEntries(found) }, measured: found.map(([cost]) => cost) };
}
