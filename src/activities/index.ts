import { leanAnswer } from '../contract/order/lean.js';
import { createAddressActivity, findAddressActivity } from './address/create-address.js';
import { awaitBatchFileActivity } from './batch/await-batch-file.js';
import { batchFilesActivity } from './batch/batch-files.js';
import { planBatchActivity } from './batch/plan-batch.js';
import { reportBatchActivity } from './batch/report-batch.js';
import { runBatchActivity } from './batch/run-batch.js';
import { sendBatchRowsActivity } from './batch/send-batch-rows.js';
import { checkSignatureActivity } from './check-signature.js';
import type { ActivityDeps } from './deps.js';
import { deliverEventActivity } from './events/deliver-event.js';
import { checkFollowUpActivity } from './order/check-follow-up.js';
import { createOrderActivity } from './order/create-order.js';
import { lookAtFundsActivity } from './order/look-at-funds.js';
import { lookUpEndedActivity } from './order/look-up-ended.js';
import { lookUpOrderActivity, lookUpRecoveredActivity } from './order/look-up-order.js';
import { lookUpReceivedActivity } from './order/look-up-received.js';
import { pollOrderActivity } from './order/poll-order.js';
import { readOutcomeActivity } from './order/read-outcome.js';
import { namingReceivers } from './order/sent-to.js';
import { whereInLineActivity, whySilentActivity } from './order/why-silent.js';
import { rebuildPolicyActivity } from './policy/rebuild.js';
import { settlePolicyActivity } from './policy/settle.js';
import { readServiceActivity } from './read-service.js';
import { proveBalancesActivity, readBalancesActivity, reportReconcileActivity } from './reconcile/reconcile-account.js';
import { reconcileDayActivity } from './reconcile/reconcile-day.js';
import { awaitResumeActivity } from './stops.js';

export { type Account, type ActivityDeps, SharedRates } from './deps.js';
export { isCopied } from './only-attempt.js';
export { confirmAttempt } from './order/create-attempt.js';
export { GroupedLookUps } from './order/grouped-look-ups.js';
export { accountAtCreate } from './order/sent-to.js';
export { PolicyDesk } from './policy/desk.js';
export { readStop } from './stops.js';

/** Wraps an activity whose answer holds an order: leaves out usual values. */
const lean =
  <Input, Answer>(activity: (input: Input) => Promise<Answer>) =>
  async (input: Input): Promise<Answer> =>
    leanAnswer(await activity(input));

/** Creates all activities of a worker, by their names in histories. */
export const createActivities = (deps: ActivityDeps) => ({
  createOrder: lean(namingReceivers(deps, createOrderActivity(deps))),
  lookUpOrder: lean(lookUpOrderActivity(deps)),
  lookUpEnded: lean(lookUpEndedActivity(deps)),
  lookUpReceived: lean(namingReceivers(deps, lookUpReceivedActivity(deps))),
  lookUpRecovered: lean(lookUpRecoveredActivity(deps)),
  pollOrder: lean(pollOrderActivity(deps)),
  readOutcome: lean(readOutcomeActivity(deps)),
  checkFollowUp: checkFollowUpActivity(deps),
  checkSignature: checkSignatureActivity(deps),
  lookAtFunds: lookAtFundsActivity(deps),
  whySilent: whySilentActivity(deps),
  whereInLine: whereInLineActivity(deps),
  readService: readServiceActivity(deps),
  batchFiles: batchFilesActivity(deps),
  createAddress: createAddressActivity(deps),
  readBalances: readBalancesActivity(deps),
  reconcileDay: reconcileDayActivity(deps),
  proveBalances: proveBalancesActivity(deps),
  reportReconcile: reportReconcileActivity(deps),
  findAddress: findAddressActivity(deps),
  awaitResume: awaitResumeActivity(deps),
  planBatch: namingReceivers(deps, planBatchActivity(deps)),
  sendBatchRows: sendBatchRowsActivity(deps),
  reportBatch: reportBatchActivity(deps),
  awaitBatchFile: awaitBatchFileActivity(deps),
  runBatch: runBatchActivity(deps),
  deliverEvent: deliverEventActivity(deps),
  rebuildPolicy: rebuildPolicyActivity(deps),
  settlePolicy: settlePolicyActivity(deps),
});

/** Activities as workflows see them, types only. */
export type Activities = ReturnType<typeof createActivities>;
