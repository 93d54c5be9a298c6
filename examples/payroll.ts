import { PaymentOrders, type ScheduleInput } from '../src/index.js';

/**
 * Payroll every Friday at 10:00 in Berlin, from `payroll-2026-11-27.csv` and its like below the workers' BATCH_DIR.
 * Somebody else than ann approves each one; without a file by 12:00 the schedule is paused.
 */
export const payrollSchedule: ScheduleInput = {
  plan: 'payroll',
  cron: ['0 10 * * FRI'],
  timeZone: 'Europe/Berlin',
  filePattern: 'payroll-{period}.csv',
  waitForFileMs: 2 * 3_600_000,
  batch: {
    startedBy: 'ann',
    approval: 'required',
    approvalExpiresMs: 8 * 3_600_000,
    compensation: 'report',
    stopAfter: { failures: 10 },
  },
};

if (import.meta.filename === process.argv[1]) {
  const orders = await PaymentOrders.connect();
  try {
    const { attached, nextRuns } = await orders.schedules.create(payrollSchedule);
    process.stdout.write(`${attached ? 'was there already' : 'created'}, next run ${nextRuns[0]?.toISOString()}\n`);
  } finally {
    await orders.close();
  }
}
