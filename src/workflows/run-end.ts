import { allHandlersFinished, condition } from '@temporalio/workflow';
import { handOver, isHandedOver, type Outbox } from './outbox.js';

/**
 * Waits before every end of a run: hands over, then waits for handlers, until nothing is left and no
 * handler runs. The caller ends the run in the same step, so no message is cut off.
 */
export async function beforeEnd(
  hand = async (): Promise<unknown> => undefined,
  isLeft = (): boolean => false,
): Promise<void> {
  do {
    await hand();
    await condition(allHandlersFinished);
  } while (isLeft() || !allHandlersFinished());
}

/** Waits before the end of a run that has nothing left but events. */
export const beforeEndOf = (outbox: Outbox): Promise<void> =>
  beforeEnd(
    () => handOver(outbox),
    () => !isHandedOver(outbox),
  );
