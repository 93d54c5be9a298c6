import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';
import { closeWithoutOrder } from '../order/close.js';
import type { OrderRun } from '../order/run.js';

/** Awaits a first activity, which also checks the whole input: bad input ends the workflow instead of being asked again. */
export async function unlessInvalid<T>(run: OrderRun, asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    const cause = error instanceof ActivityFailure ? error.cause : undefined;
    if (!(cause instanceof ApplicationFailure) || cause.type !== 'InvalidOrder') throw error;
    closeWithoutOrder(run, 'InvalidOrder', cause.message, ...(cause.details ?? []));
  }
}
