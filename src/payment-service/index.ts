export { createPaymentService, type PaymentService, type PaymentServiceOptions, type StatusAnswer } from './client.js';
export {
  errorFromResponse,
  InvalidRequestError,
  MalformedResponseError,
  NoAnswerError,
  NotSentError,
  PaymentServiceError,
  RateLimitedError,
  RejectedError,
  UnexpectedStatusError,
} from './errors.js';
export {
  allPages,
  type DateWindow,
  orderWindows,
  type Page,
  serviceDateTime,
  type WindowPage,
  ZONE_SLACK_MS,
} from './paging.js';
export {
  type AddressCreateRequest,
  type AddressListQuery,
  addressCreateSchema,
  addressListSchema,
  checkRequest,
  MAX_ORDERS_PER_PAGE,
  type OrderListQuery,
  type OrderStatusQuery,
  orderListSchema,
  orderStatusSchema,
} from './requests.js';
export { loadSigner, type Signer } from './signers.js';
export type { CallOptions } from './transport.js';
