import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { anchorsIn, verifyAudit } from '../../src/audit/verify.js';

/** A line of the audit record about a create or a choice, as far as the oracle compares it. */
export interface AuditLine {
  id: string;
  event: string;
  atMs: number;
  workflowId: string;
  /** Of a create. */
  orderId?: string;
  /** Of a decision. */
  revision?: number;
}

/** What the audit record says, and what is wrong with it by itself and against the hashes in the workers' logs. */
export interface AuditEvidence {
  files: number;
  lines: readonly AuditLine[];
  problems: readonly string[];
}

/** Reads and verifies the record of all workers, as `payment-orders audit verify` does. */
export async function readAudit(folder: string, workerLogs: readonly string[]): Promise<AuditEvidence> {
  const paths = (await readdir(folder)).map((file) => join(folder, file));
  const logs = await Promise.all(workerLogs.map((file) => readFile(file, 'utf8')));
  const found = await verifyAudit(paths);
  // A worker killed between writing a line and logging it leaves a line without an anchor, so that only the other way counts.
  const { missing } = await verifyAudit(paths, logs.flatMap(anchorsIn));
  // A worker killed between making its file and writing the first line leaves it empty; a file that was emptied misses its anchors.
  const files = found.files.filter(({ lines }) => lines > 0);
  const texts = await Promise.all(files.map(({ path }) => readFile(path, 'utf8')));
  return {
    files: files.length,
    lines: texts.flatMap((text) => text.split('\n').slice(0, -1).flatMap(lineOf)),
    problems: [
      ...files.flatMap(({ path, problems }) => problems.map((problem) => `${path}: ${problem}`)),
      ...found.problems,
      ...found.notGiven.map((file) => `a file goes on from ${file}, which is not there`),
      ...missing.map((hash) => `the line ${hash} that a worker logged is in no file`),
    ],
  };
}

function lineOf(text: string): AuditLine[] {
  const { id, event, at, workflowId, request, choice } = JSON.parse(text);
  if (event === 'opened') return [];
  return [{ id, event, atMs: Date.parse(at), workflowId, orderId: request?.order_id, revision: choice?.revision }];
}
