export {
  AgainRefusedError,
  DecisionRefusedError,
  InvalidInputError,
  NotDecidedYetError,
  NoWorkerError,
  OrderConflictError,
  OrderFailedError,
  OrderUnresolvedError,
  ServiceRequestFailedError,
  TemporalSetupError,
  TemporalUnreachableError,
  UnknownOrderError,
} from './client/errors.js';
export type { OrderFilter, OrderListEntry } from './client/list-orders.js';
export type { WaitOptions } from './client/order-errors.js';
export { OrderHandle } from './client/order-handle.js';
export {
  type AddressListQuery,
  type OrderListQuery,
  PaymentOrders,
  type StartOptions,
} from './client.js';
export { type FieldError, ORDER_FAILURES, type OrderFailure } from './contract/failures.js';
export type { Attention, OrderPhase, OrderState } from './contract/messages.js';
export type { Amount } from './contract/money.js';
export {
  type CompensationPolicy,
  type CompensationResult,
  type CreateRequests,
  DECIDE_ACTIONS,
  type DecideAction,
  type Decision,
  type DecisionRecord,
  type FollowUpType,
  ORDER_TYPES,
  type Order,
  type OrderInput,
  type OrderListItem,
  type OrderResult,
  type OrderType,
  type Remainder,
  type RevertTarget,
} from './contract/orders.js';
export type { DepositAddressInput, DepositAddressResult } from './contract/reads.js';
export type { Balance, DepositAddress, RateEntry, Rates } from './contract/service-objects.js';
export { FINAL_STATUSES, type FinalStatus } from './contract/status.js';
