import { type ClientError, isClientError } from '../client/errors.js';
import { BATCH_FILE_UNUSABLE } from '../contract/batch/batch.js';
import { bugIn, type FieldError } from '../contract/failures.js';
import { maskWallets } from '../contract/wallets.js';

/** Problem details (RFC 9457), without the request's own fields. */
export interface Problem {
  status: number;
  code: string;
  detail: string;
  fields?: readonly FieldError[];
  headers?: Record<string, string>;
}

/** Refusal by the API itself. Its message quotes nothing of the request. */
export class Refusal extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail);
  }
}

/** Titles of problems by status. */
const TITLES: Readonly<Record<number, string>> = {
  400: 'The request cannot be read',
  401: 'A key is needed',
  403: 'The key does not allow this',
  404: 'There is no such thing',
  409: 'The request does not fit what exists',
  413: 'The body is too large',
  415: 'The body has another content type than the route',
  422: 'The input is not valid',
  429: 'Too many requests',
  500: 'The API failed',
  503: 'There is no answer yet',
};

/** Table of statuses by error kind and failure type; see docs/api.md. */
const STATUS: Readonly<Record<string, number>> = {
  invalidInput: 422,
  conflict: 409,
  unknown: 404,
  refused: 409,
  notDecidedYet: 503,
  unresolved: 409,
  noWorker: 503,
  unreachable: 503,
  InvalidOrder: 422,
  OrderRejected: 422,
  OrderConflict: 409,
  OrderCancelled: 409,
  OrderAbsent: 409,
  InvalidInput: 422,
  BatchNotApproved: 409,
  BatchFileUnusable: 422,
  BatchStopped: 409,
  NotWritten: 503,
  ServiceRejected: 422,
  ServiceUnavailable: 503,
  KeyRefused: 503,
  AddressAbsent: 503,
};

const SAFE = 'Repeat the same request with the same ids, which is safe';

/** Details that replace messages for the API's operator. */
const OWN_DETAIL: Readonly<Record<string, string>> = {
  unreachable: `Temporal did not answer, so it is not known whether the request was carried out. ${SAFE}`,
  internal: `The API failed, so it is not known whether the request was carried out. ${SAFE}; the log names the reason under this request id`,
};

/** Details of errors that fastify raises before a handler. */
const UNREAD: Readonly<Record<number, string>> = {
  413: 'The body is larger than the limit of this route, so nothing was started. Send less; upload many rows in parts: PUT /v1/batch-files/{sha256}/{part}',
  415: 'The body has another content type than this route takes, so nothing was started. Send application/json, or a part of a batch file as text/csv or application/x-ndjson',
};
const UNREADABLE = 'The request cannot be read, so nothing was started. Correct it and send it again';

/** Seconds after which a repeated request may get another answer. */
const RETRY_AFTER = { 'retry-after': '5' };

/** Returns the problem of an error, without words for the operator. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Refusal) return error.problem;
  if (isClientError(error)) {
    const code = error.kind === 'failed' ? error.type : error.kind;
    const status = isGoneFile(error) ? 404 : (STATUS[code] ?? (error.kind === 'failed' ? 409 : 500));
    const detail = OWN_DETAIL[status === 500 ? 'internal' : code] ?? error.message;
    return { status, code, detail, fields: fieldsOf(error), ...(status === 503 && { headers: RETRY_AFTER }) };
  }
  const { statusCode: status = 500 } = Object(error) as { statusCode?: number };
  if (status < 400 || status > 499) return { status: 500, code: 'internal', detail: OWN_DETAIL.internal ?? '' };
  return { status: status in TITLES ? status : 400, code: 'unreadable', detail: UNREAD[status] ?? UNREADABLE };
}

/** Returns true if a read found no file. A start that names such a file is bad input. */
const isGoneFile = (error: ClientError): boolean =>
  error.kind === 'failed' && error.subject === 'read' && error.type === BATCH_FILE_UNUSABLE;

/** Returns the bad or differing fields of an error. */
function fieldsOf(error: object): readonly FieldError[] | undefined {
  const { fields = [] } = error as { fields?: readonly (FieldError | string)[] };
  if (fields.length === 0) return undefined;
  return fields.map((one) => (typeof one === 'string' ? { field: one, reason: 'differs from the first input' } : one));
}

/** Returns the body of a problem. */
export const problemBody = ({ status, code, detail, fields }: Problem, requestId: string) => ({
  type: `urn:payment-orders:problem:${code}`,
  title: TITLES[status] ?? 'The request failed',
  status,
  detail: maskWallets(detail),
  code,
  ...(fields && { fields }),
  requestId,
});

/** Returns what the log may contain of an error for the operator. */
export const loggedError = (error: unknown): object =>
  isClientError(error) ? { error: `${error.name}: ${maskWallets(error.message)}` } : bugIn(error);
