import type { Circumstances } from '../../contract/answers.js';
import { noteCircumstances, nothingSent, type OrderRun } from './order-run.js';

/** What an attempt or a look-up answered: its verdict or reading by `kind`, with the circumstances. */
export type Answer = Circumstances & { kind: string; said?: string };

/** Kinds after which no create of ours has reached the service, unless one did before. */
const SENT_NOTHING = ['notSent', 'rateLimited', 'overCap', 'stale', 'conflict', 'duplicates', 'absent'];

/**
 * Keeps what an answer tells besides its verdict. Only a send pins where it went: until then what was asked may be the
 * very mistake that is to be mended, and the next attempt must be free to go elsewhere.
 */
export function noteAnswer(run: OrderRun, answer: Answer): void {
  const { sentTo } = run;
  noteCircumstances(run, answer);
  if (answer.kind === 'absent') run.statusSaid = answer.said;
  if (nothingSent(run) && SENT_NOTHING.includes(answer.kind)) run.sentTo = sentTo;
}
