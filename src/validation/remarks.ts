import type { FieldError } from '../contract/failures.js';

/** What becomes of rules that are ours (formats of wallets and details, pairs): 'refuse', or 'warn' and send all the same. */
export const FORMAT_CHECKS = ['refuse', 'warn'] as const;

/** One of the two. */
export type FormatChecks = (typeof FORMAT_CHECKS)[number];

/** Read of a worker's setting for an account, beside the reads of the service: a client asks before it refuses. */
export const FORMAT_CHECKS_READ = 'formatChecks';

/** What a check says about an input. `rule`: 'format' is a rule of ours; 'note' is told and never refused. */
export interface Remark extends FieldError {
  rule?: 'format' | 'note';
}

/** Marks errors as breaking a rule of ours. */
export const ofFormat = (found: readonly FieldError[]): Remark[] =>
  found.map((error) => ({ rule: 'format', ...error }));

/** The remarks that refuse the input, and those that are only told. */
export function sortRemarks(
  found: readonly Remark[],
  checks: FormatChecks,
): { errors: FieldError[]; told: FieldError[] } {
  const isTold = ({ rule }: Remark) => rule === 'note' || (rule === 'format' && checks === 'warn');
  const plain = ({ field, reason }: Remark): FieldError => ({ field, reason });
  return {
    errors: found.filter((remark) => !isTold(remark)).map(plain),
    told: found.filter(isTold).map(plain),
  };
}
