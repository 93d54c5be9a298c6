import { condition } from '@temporalio/workflow';

/** After this long without an answer a person is told. What waits for it goes on. */
export const ATTENTION_AFTER_MS = 15 * 60_000;

/** True when a promise is settled, well or badly, within that time; the promise itself goes on. One timer. */
export function answersWithin(pending: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  let answered = false;
  const done = () => {
    answered = true;
  };
  pending.then(done, done);
  return condition(() => answered, timeoutMs);
}
