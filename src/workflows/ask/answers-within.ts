import { condition } from '@temporalio/workflow';

/** True when a promise is settled, well or badly, within that time; the promise itself goes on. One timer. */
export function answersWithin(pending: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  let answered = false;
  const done = () => {
    answered = true;
  };
  pending.then(done, done);
  return condition(() => answered, timeoutMs);
}
