import {
  ChildWorkflowCancellationType,
  getExternalWorkflowHandle,
  ParentClosePolicy,
  startChild,
} from '@temporalio/workflow';
import { searchAttribute } from '../contract/names.js';
import { watch } from './activity-calls.js';

/** The other workflow may end, or be started by another run, between two tries. */
const MOST_TRIES = 10;

/** A workflow that takes one input, as its start and as a signal. */
interface Target<Input> {
  type: string;
  workflowId: string;
  signal: string;
  account: string;
  /** Input of a start. */
  started: unknown;
  signalled: Input;
  summary?: string;
}

/**
 * Signals a workflow, or starts it so that it outlives this one; `isOpen`: signal first. Returns
 * a check if a started one is open, undefined after a signal, and false if both failed.
 */
export async function signalOrStart<Input>(
  { type, workflowId, signal, account, started, signalled, summary }: Target<Input>,
  isOpen: boolean,
): Promise<(() => boolean) | undefined | false> {
  let signals = isOpen;
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    try {
      if (signals) {
        await getExternalWorkflowHandle(workflowId).signal(signal, signalled);
        return undefined;
      }
      const child = await startChild<(input: unknown) => Promise<void>>(type, {
        workflowId,
        args: [started],
        parentClosePolicy: ParentClosePolicy.ABANDON,
        cancellationType: ChildWorkflowCancellationType.ABANDON,
        ...(summary && { staticSummary: summary }),
        typedSearchAttributes: [{ key: searchAttribute.account, value: account }],
      });
      const isOver = watch(child.result());
      return () => !isOver();
    } catch {
      // Already started, or already closed.
      signals = !signals;
    }
  }
  return false;
}
