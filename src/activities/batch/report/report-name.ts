import { join } from 'node:path';
import type { Directories } from '../../../config.js';
import type { BatchInput } from '../../../contract/batch/input.js';
import type { FieldError } from '../../../contract/failures.js';

/** How the names of a batch's files begin. An account has no dot in it, so two accounts never share a name. */
export const reportName = (account: string, batchId: string): string => `${account}.${batchId}`;

const ENDINGS = ['report.csv', 'report.json', 'rejected.csv', 'rejected.ndjson', 'errors.csv'];

/**
 * The error of a batch whose input is one of its own reports, such as the rejected rows mended where they were written:
 * the report of this run would take the file's place, or remove it.
 */
export function ownReportProblem(
  { batchDir, reportDir }: Directories = {},
  account: string,
  { file, batchId }: Pick<BatchInput, 'file'> & { batchId: string },
): FieldError[] {
  if (!file || !batchDir || !reportDir) return [];
  // Some file systems take upper and lower case for the same.
  const input = join(batchDir, file.path).toLowerCase();
  const name = ENDINGS.map((ending) => `${reportName(account, batchId)}.${ending}`).find(
    (report) => join(reportDir, report).toLowerCase() === input,
  );
  if (!name) return [];
  const reason = `is ${name}, which this batch writes itself; copy it to another name, or give the batch another id`;
  return [{ field: 'file.path', reason }];
}
