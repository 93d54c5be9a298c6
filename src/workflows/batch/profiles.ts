import { ActivityCancellationType, type ActivityOptions } from '@temporalio/workflow';
import { ORDERS_TASK_QUEUE } from '../../contract/names.js';

/** All activities of a batch are repeated for ever: none sends money itself, and each goes on where it was. */
const common: ActivityOptions = {
  taskQueue: ORDERS_TASK_QUEUE,
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' },
  // An interrupted chunk hands its progress back, which must be waited for.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
};

/** Reads every row of a file: as long as it takes, with a sign of life. */
export const wholeFile: ActivityOptions = { ...common, startToCloseTimeout: '6h', heartbeatTimeout: '30s' };

/** A chunk of sending: seconds, so a worker that died is noticed soon. */
export const sendingChunk: ActivityOptions = { ...common, startToCloseTimeout: '10m', heartbeatTimeout: '10s' };
