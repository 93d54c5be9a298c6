export { createPaymentService } from './client.js';
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
export { allPages, type DateWindow, orderWindows, serviceDateTime, type WindowPage, ZONE_SLACK_MS } from './paging.js';
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
export type { CallOptions, Page, PaymentService, PaymentServiceOptions, StatusAnswer } from './types.js';
