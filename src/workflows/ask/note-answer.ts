import type { Circumstances } from '../../contract/order/answers.js';
import { noteCircumstances, type OrderRun } from '../order/run.js';

/** What an attempt or a look-up answered: its verdict or reading by `kind`, with the circumstances. */
export type Answer = Circumstances & { kind: string; said?: string };

/** Kinds that show an order under our id where it was asked for. */
const SHOWN = ['accepted', 'adopted', 'found'];

/**
 * Keeps what an answer tells besides its verdict. Only a send, or the order itself, pins where it went: until then what was
 * asked may be the very mistake that is to be mended, and the next attempt must be free to go elsewhere.
 */
export function noteAnswer(run: OrderRun, answer: Answer, mayHaveSent = false): void {
  const { sentTo } = run;
  noteCircumstances(run, answer);
  if (answer.kind === 'absent') run.statusSaid = answer.said;
  if (!mayHaveSent && !SHOWN.includes(answer.kind)) run.sentTo = sentTo;
}
