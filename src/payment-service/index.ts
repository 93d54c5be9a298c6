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
export {
  type AddressCreateRequest,
  type AddressListQuery,
  addressCreateSchema,
  addressListSchema,
  checkRequest,
  type OrderListQuery,
  type OrderStatusQuery,
  orderListSchema,
  orderStatusSchema,
} from './requests.js';
export { loadSigner, type Signer } from './signers.js';
export type { CallOptions, Page, PaymentService, PaymentServiceOptions } from './types.js';
