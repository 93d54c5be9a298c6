import { ActivityFailure, ApplicationFailure, condition } from '@temporalio/workflow';

/** Watches a promise: tells whether it has ended by now, well or badly. How it ended is for whoever awaits it. */
export function watch(pending: Promise<unknown>): () => boolean {
  let ended = false;
  const end = () => {
    ended = true;
  };
  pending.then(end, end);
  return () => ended;
}

/** True when a promise ends within that time; otherwise it goes on. One timer. */
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

/** The failure of ours that an activity ended with; undefined for a time-out, a cancellation and everything else. */
export const failureOf = (error: unknown): ApplicationFailure | undefined =>
  error instanceof ActivityFailure && error.cause instanceof ApplicationFailure ? error.cause : undefined;
