import { ApplicationFailure } from '@temporalio/common';
import { describeFieldErrors, type FieldError, INVALID_INPUT } from '../../../contract/failures.js';
import { openCsvReport } from '../../../reports/formats.js';

/** The failure lives in histories: its details stay well below 100 KB. */
const MAX_SHOWN_BYTES = 40_000;
const MAX_MESSAGE_LENGTH = 1_000;

/** A bad field of a row, and the row's line in the file. */
export type BadField = FieldError & { line: number };

/** Returns the failure that refuses the batch. Writes all bad fields to `name` in `reportDir`. */
export async function refusalOf(
  bad: readonly BadField[],
  rows: number,
  { reportDir, name }: { reportDir: string | undefined; name: string },
): Promise<ApplicationFailure> {
  if (reportDir !== undefined) await writeAll(bad, reportDir, name);
  const count = new Set(bad.map(({ line }) => line)).size;
  const where = reportDir === undefined ? '' : `; all of them are in ${name} of REPORT_DIR`;
  const errors: FieldError[] = [{ field: 'rows', reason: `${count} of ${rows} are bad, so nothing was sent${where}` }];
  let bytes = 0;
  for (const { line, field, reason } of bad) {
    const shown = { field: `line ${line}: ${field}`, reason };
    bytes += Buffer.byteLength(JSON.stringify(shown));
    if (bytes > MAX_SHOWN_BYTES) break;
    errors.push(shown);
  }
  const message = describeFieldErrors(errors.slice(0, 10)).slice(0, MAX_MESSAGE_LENGTH);
  return ApplicationFailure.create({ type: INVALID_INPUT, message, nonRetryable: true, details: [errors] });
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
