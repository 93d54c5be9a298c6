/** Every workflow type this worker runs; each export is a type, so nothing else may be exported here. */
export { bulkWithdraw } from './bulk-withdraw.js';
export { deposit } from './deposit.js';
export { depositAddress } from './deposit-address.js';
export { depositExchange } from './deposit-exchange.js';
export { depositExchangeWithdraw } from './deposit-exchange-withdraw.js';
export { exchange } from './exchange.js';
export { exchangeWithdraw } from './exchange-withdraw.js';
export { orderAfterEnd } from './order-after-end.js';
export { receivedDeposit } from './received-deposit.js';
export { reconcile } from './reconcile.js';
export { scheduledBatch } from './scheduled-batch.js';
export { serviceRead } from './service-read.js';
export { default } from './unknown-type.js';
export { withdraw } from './withdraw.js';
