export {
  type AccountState,
  Accounts,
  type Instruction,
  type StoppedAccount,
} from './client/accounts.js';
export { BatchHandle } from './client/batch/batch-handle.js';
export type { BatchRowEntry, BatchRowFilter, BatchRowPage } from './client/batch/batch-rows.js';
export { Batches, type BatchStart, type UploadOptions } from './client/batch/batches.js';
export type { ScheduleInput } from './client/batch/schedule-spec.js';
export { type CreatedSchedule, type NextRun, type PlanOptions, Schedules } from './client/batch/schedules.js';
export type { BookProgress } from './client/books/export-book.js';
export type { WaitOptions } from './client/bounded.js';
export type {
  DecidableOrder,
  DecideAllInput,
  DecideAllPlan,
  DecideAllResult,
  NotDecided,
} from './client/decide-all.js';
export type { EndedFilter, EndedOrders } from './client/ended.js';
export {
  type BatchFailure,
  type ClientError,
  ConfigError,
  ConflictError,
  FailedError,
  InvalidInputError,
  isClientError,
  NotDecidedYetError,
  NoWorkerError,
  PayloadDecryptionError,
  RefusedError,
  type Subject,
  TemporalSetupError,
  TemporalUnreachableError,
  UnknownIdError,
  UnresolvedError,
} from './client/errors.js';
export type { ListedAttention, OrderFilter, OrderListEntry, OrderPage } from './client/list-orders.js';
export { OrderHandle } from './client/order-handle.js';
export type { ReconcileOptions, ReconcileState } from './client/reconcile.js';
export type { Parked, UntilParked } from './client/remote-run.js';
export type { RatesQuery } from './client/service-calls.js';
export type { Signer, SignOptions } from './client/signing.js';
export { type ExportOptions, type HandleOptions, PaymentOrders, type StartOptions } from './client.js';
export type { AccountStop } from './contract/account-stop.js';
export type { DepositAddress, DepositAddressInput, DepositAddressResult } from './contract/address/address.js';
export { ATTENTION_CODES, type AttentionCode } from './contract/attention.js';
export type {
  AmountsByCurrency,
  BatchApproval,
  BatchChoice,
  BatchFile,
  BatchInput,
  BatchInstruction,
  BatchInterruption,
  BatchOutcomes,
  BatchPhase,
  BatchPlan,
  BatchProgress,
  BatchResult,
  BatchState,
  BatchWarning,
  CurrencyPlan,
  ReportFile,
  SignedApproval,
} from './contract/batch/batch.js';
export type { BatchFormat, BatchUpload, UploadState } from './contract/batch/files.js';
export type {
  BookFollowUp,
  BookItem,
  BookLine,
  EndLine,
  FeePayers,
  MissingLine,
  OrderLine,
  SumLine,
} from './contract/books/book.js';
export type { BookInput } from './contract/books/period.js';
export {
  type EventHeaders,
  EventRefusedError,
  type VerifyEventOptions,
  verifyEvent,
} from './contract/event-signature.js';
export { EVENT_KINDS, type EventData, type EventKind, type OutgoingEvent } from './contract/events.js';
export { type FieldError, ORDER_FAILURES, ORDER_UNRESOLVED, type OrderFailure } from './contract/failures.js';
export type { Amount } from './contract/money.js';
export type { AfterEndResult } from './contract/order/after-end.js';
export type {
  CompensationPolicy,
  CompensationResult,
  OrderInput,
  OrderResult,
  Remainder,
  RevertTarget,
} from './contract/order/input-and-result.js';
export type {
  Attention,
  CurrencyAmount,
  DecisionChoice,
  IdCheck,
  LeavingAmount,
  OrderCheck,
  OrderFindings,
  OrderPhase,
  OrderState,
} from './contract/order/messages.js';
export { DECIDE_ACTIONS, type DecideAction, type Decision, type DecisionRecord } from './contract/order/messages.js';
export type { CreateRequests } from './contract/order/request.js';
export { type FollowUpType, ORDER_TYPES, type OrderType } from './contract/order/types.js';
export {
  AGREED_CLASSES,
  type BalanceGap,
  type CarriedBalance,
  type ChainSummary,
  DISAGREEING_CLASSES,
  disagreementOf,
  type Finding,
  type MalformedItem,
  type ReconcileClass,
  type ReconcileInput,
  type ReconcileProgress,
  type ReconcileResult,
} from './contract/reconcile/reconcile.js';
export {
  type AddressListQuery,
  type Balance,
  type Balances,
  FINAL_STATUSES,
  type FinalStatus,
  isMalformed,
  type Malformed,
  type Order,
  type OrderListItem,
  type OrderListQuery,
  type RateEntry,
  type Rates,
} from './contract/service-objects.js';
export { type Signature, type SignedRun, type SignedUpdate, textToSign } from './contract/signature.js';
export { keyIdOf } from './contract/signed-together.js';
