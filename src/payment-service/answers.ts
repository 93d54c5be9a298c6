import { channel } from 'node:diagnostics_channel';
import { NotSentError, PaymentServiceError } from './errors.js';

/** One request that ended. Without wallets, ids and keys: it is counted. */
export interface Answered {
  account: string;
  /** The path, such as `order/list`. */
  operation: string;
  /** A status, such as `200`, `not_sent`, or `no_answer`. */
  answer: string;
  /** The status itself, where there was one. */
  status?: number;
  seconds: number;
}

/** Where ended requests are told, to whoever counts or traces them, in the context of who asked; nothing is made where nobody does. */
export const answers = channel('payment-orders:service-answers');

/** Statuses that are told apart; of others only the class. */
const TOLD = new Set([200, 400, 401, 403, 404, 429]);

const answerOf = (status: number): string => (TOLD.has(status) ? `${status}` : `${Math.floor(status / 100)}xx`);

/** `ask`, told when it has ended; `status`: of its answer. */
export async function told<T extends { status: number }>(
  about: Pick<Answered, 'account' | 'operation'>,
  ask: () => Promise<T>,
): Promise<T> {
  if (!answers.hasSubscribers) return ask();
  const fromMs = performance.now();
  const tell = (answer: string, status?: number): void =>
    answers.publish({ ...about, answer, status, seconds: (performance.now() - fromMs) / 1_000 } satisfies Answered);
  try {
    const answer = await ask();
    tell(answerOf(answer.status), answer.status);
    return answer;
  } catch (error) {
    tell(error instanceof NotSentError ? error.code : error instanceof PaymentServiceError ? 'no_answer' : 'failed');
    throw error;
  }
}
