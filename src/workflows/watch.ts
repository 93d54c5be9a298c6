import { condition } from '@temporalio/workflow';

/** Watches a promise, which answers for itself: tells whether it is settled by now, well or badly. */
export function watch(pending: Promise<unknown>): () => boolean {
  let settled = false;
  const settle = () => {
    settled = true;
  };
  pending.then(settle, settle);
  return () => settled;
}

/** True when a promise is settled within that time; the promise itself goes on. One timer. */
export const answersWithin = (pending: Promise<unknown>, timeoutMs: number): Promise<boolean> =>
  condition(watch(pending), timeoutMs);

/** Awaits what `act` does; `cancel` is called, and awaited, when `isCancelled` comes true before that has ended. */
export async function cancellable<T>(
  act: () => Promise<T>,
  isCancelled: () => boolean,
  cancel: () => Promise<void> | void,
): Promise<T> {
  let ended = false;
  const cancelling = condition(() => ended || isCancelled()).then(() => (ended ? undefined : cancel()));
  try {
    return await act();
  } finally {
    ended = true;
    await cancelling;
  }
}
