import { checkFollowUpActivity } from './check-follow-up.js';
import { createAddressActivity } from './create-address.js';
import { createOrderActivity } from './create-order.js';
import type { ActivityDeps } from './deps.js';
import { findAddressActivity } from './find-address.js';
import { lookUpOrderActivity } from './look-up-order.js';
import { pollOrderActivity } from './poll-order.js';
import { readOutcomeActivity } from './read-outcome.js';
import { readServiceActivity } from './read-service.js';

export { confirmAttempt } from './confirm-attempt.js';
export type { Account, ActivityDeps } from './deps.js';
export { SharedRates } from './shared-rates.js';

/** All activities of a worker, by the names that histories know them by. */
export const createActivities = (deps: ActivityDeps) => ({
  createOrder: createOrderActivity(deps),
  lookUpOrder: lookUpOrderActivity(deps),
  pollOrder: pollOrderActivity(deps),
  readOutcome: readOutcomeActivity(deps),
  checkFollowUp: checkFollowUpActivity(deps),
  readService: readServiceActivity(deps),
  createAddress: createAddressActivity(deps),
  findAddress: findAddressActivity(deps),
});

/** What workflows see of the activities: types only. */
export type Activities = ReturnType<typeof createActivities>;
