import type { FieldError } from '../contract/failures.js';

/**
 * What becomes of rules that are ours and not the service's (formats of wallets and of their details, pairs that rates do
 * not show): 'refuse' an order that breaks one, or 'warn': it is sent all the same, with a note.
 */
export const FORMAT_CHECKS = ['refuse', 'warn'] as const;

/** One of the two. */
export type FormatChecks = (typeof FORMAT_CHECKS)[number];

/** Read of a worker's setting for an account, beside the reads of the service: a client asks before it refuses. */
export const FORMAT_CHECKS_READ = 'formatChecks';

/** Something found in an input. `rule`: 'format' is a rule of ours; 'note' is told and never refused. */
export interface Finding extends FieldError {
  rule?: 'format' | 'note';
}

/** Marks findings as breaking a rule of ours. */
export const ofFormat = (found: readonly FieldError[]): Finding[] =>
  found.map((finding) => ({ rule: 'format', ...finding }));

/** The findings that refuse the input, and those that are only told. */
export function sortFindings(
  found: readonly Finding[],
  checks: FormatChecks,
): { errors: FieldError[]; told: FieldError[] } {
  const isTold = ({ rule }: Finding) => rule === 'note' || (rule === 'format' && checks === 'warn');
  const plain = ({ field, reason }: Finding): FieldError => ({ field, reason });
  return {
    errors: found.filter((finding) => !isTold(finding)).map(plain),
    told: found.filter(isTold).map(plain),
  };
}
