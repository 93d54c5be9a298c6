import { differences, sameValue } from '../differences.js';
import { DEFAULT_ACCOUNT } from '../ids.js';
import type { BatchInput } from './batches.js';

/** What a start asks for, with the defaults filled in. Who asks, and whether anew, is not part of it. */
function wanted(input: Partial<BatchInput> | null | undefined): Record<string, unknown> {
  return {
    account: input?.account ?? DEFAULT_ACCOUNT,
    rows: input?.rows,
    approval: input?.approval ?? 'none',
    approvalExpiresMs: input?.approvalExpiresMs,
    compensation: input?.compensation,
    resend: input?.resend ?? 'once',
    maxInFlight: input?.maxInFlight,
    stopAfter: input?.stopAfter,
    latestSend: input?.latestSend,
  };
}

/** A file is its content: under another name it is the same file, where both hashes are known. */
function fileDifferences(a: BatchInput['file'], b: BatchInput['file']): string[] {
  if (a?.sha256 && b?.sha256) return a.sha256 === b.sha256 ? [] : ['file.sha256'];
  return a?.path === b?.path ? [] : ['file.path'];
}

/**
 * Fields in which two starts of one batch id differ; [] = a start may attach to the other's run. Amounts compare
 * numerically. Tolerates input that was never validated.
 */
export function batchInputDifferences(a: BatchInput, b: BatchInput): string[] {
  const [mine, theirs] = [wanted(a), wanted(b)];
  const others = Object.keys(mine).flatMap((field) => differences(mine[field], theirs[field], field, sameValue));
  return [...fileDifferences(a.file, b?.file), ...others];
}
