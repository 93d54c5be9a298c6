/** Every workflow type this worker runs; each export is a type, so nothing else may be exported here. */
export { accountStop } from './account-stop.js';
export { bulkWithdraw } from './bulk-withdraw.js';
export { canary } from './create/canary.js';
export { deliverEvents } from './deliver-events.js';
export { depositAddress } from './deposit-address.js';
export { fundsLine } from './funds-line.js';
export { orderAfterEnd } from './order-after-end.js';
export {
  deposit,
  depositExchange,
  depositExchangeWithdraw,
  exchange,
  exchangeWithdraw,
  withdraw,
} from './orders.js';
export { policy } from './policy.js';
export { receivedDeposit } from './received-deposit.js';
export { reconcile } from './reconcile.js';
export { scheduledBatch } from './scheduled-batch.js';
export { batchFiles, serviceRead } from './service-read.js';
