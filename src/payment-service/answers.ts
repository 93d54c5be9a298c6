import { channel } from 'node:diagnostics_channel';
import { NotSentError, PaymentServiceError } from './errors.js';

/** A completed request, for metrics. Contains no wallet, id or key. */
export interface Answered {
  account: string;
  /** Path, such as `order/list`. */
  operation: string;
  /** Status such as `200`, or `not_sent`, or `no_answer`. */
  answer: string;
  /** HTTP status, if there was one. */
  status?: number;
  seconds: number;
}

/** Publishes completed requests in the caller's context. Without subscribers, it costs nothing. */
export const answers = channel('payment-orders:service-answers');

/** Statuses with a label of their own. All others are counted by class. */
const TOLD = new Set([200, 400, 401, 403, 404, 429]);

const answerOf = (status: number): string => (TOLD.has(status) ? `${status}` : `${Math.floor(status / 100)}xx`);

/** Runs `ask` and publishes how it ended. `status`: of its answer. */
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
