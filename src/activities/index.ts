import { awaitBatchFileActivity } from './await-batch-file.js';
import { checkFollowUpActivity } from './check-follow-up.js';
import { createAddressActivity } from './create-address.js';
import { createOrderActivity } from './create-order.js';
import type { ActivityDeps } from './deps.js';
import { findAddressActivity } from './find-address.js';
import { lookUpOrderActivity } from './look-up-order.js';
import { lookUpReceivedActivity } from './look-up-received.js';
import { lookUpRecoveredActivity } from './look-up-recovered.js';
import { planBatchActivity } from './plan-batch.js';
import { pollOrderActivity } from './poll-order.js';
import { readOutcomeActivity } from './read-outcome.js';
import { readServiceActivity } from './read-service.js';
import { reconcileAccountActivity } from './reconcile/reconcile-account.js';
import { reportBatchActivity } from './report-batch.js';
import { runBatchActivity } from './run-batch.js';
import { sendBatchRowsActivity } from './send-batch-rows.js';

export { confirmAttempt } from './confirm-attempt.js';
export type { Account, ActivityDeps } from './deps.js';
export { SharedRates } from './shared-rates.js';

/** All activities of a worker, by the names that histories know them by. */
export const createActivities = (deps: ActivityDeps) => ({
  createOrder: createOrderActivity(deps),
  lookUpOrder: lookUpOrderActivity(deps),
  lookUpReceived: lookUpReceivedActivity(deps),
  lookUpRecovered: lookUpRecoveredActivity(deps),
  pollOrder: pollOrderActivity(deps),
  readOutcome: readOutcomeActivity(deps),
  checkFollowUp: checkFollowUpActivity(deps),
  readService: readServiceActivity(deps),
  createAddress: createAddressActivity(deps),
  reconcileAccount: reconcileAccountActivity(deps),
  findAddress: findAddressActivity(deps),
  planBatch: planBatchActivity(deps),
  sendBatchRows: sendBatchRowsActivity(deps),
  reportBatch: reportBatchActivity(deps),
  awaitBatchFile: awaitBatchFileActivity(deps),
  runBatch: runBatchActivity(deps),
});

/** What workflows see of the activities: types only. */
export type Activities = ReturnType<typeof createActivities>;
