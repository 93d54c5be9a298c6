import type { FastifyRequest } from 'fastify';
import * as z from 'zod';
import { accepted, checkWith, type ParsedInput } from '../client/checked-input.js';
import { ACCOUNT_FORMAT, DEFAULT_ACCOUNT } from '../contract/names.js';
import { checkedBy } from '../validation/field-errors.js';
import { shownName } from '../validation/request-schemas.js';
import { actorOf } from './callers.js';

/** Query of every route about one account. */
export const accountQuery = z.strictObject({
  account: shownName(ACCOUNT_FORMAT, 'must be 1 to 32 of a-z 0-9 -').optional(),
});

/** A flag of a query. */
export const queryFlag = z.enum(['true', 'false']).transform((text) => text === 'true');

/** A whole number of a query. */
export const queryNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,6}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .pipe(z.int().min(min).max(max));

/** Path of a route about one id. */
export const idParams = z.strictObject({ id: z.string().min(1).max(200) });

/** Returns the path that shows an order or a batch. */
export const locationOf = (kind: 'orders' | 'batches', id: string, account: string): string =>
  `/v1/${kind}/${encodeURIComponent(id)}${account === DEFAULT_ACCOUNT ? '' : `?account=${account}`}`;

/** Body of every answer that is no success. */
export const problem = z.looseObject({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code: z.string(),
  fields: z.array(z.strictObject({ field: z.string(), reason: z.string() })).optional(),
  requestId: z.string(),
});

const COMMON: Readonly<Record<string, string>> = {
  401: 'No valid key',
  403: 'The key does not allow the verb, the account or the amount',
  422: 'Bad input, by field',
  429: 'Too many requests of this caller',
  default: 'Any other error',
  503: 'Temporal or every worker is away. Repeat the same request, which is safe',
};

/** Successful answers: each has a description and a body. */
type Success = Readonly<Partial<Record<200 | 201 | 202, readonly [string, z.ZodType]>>>;

/** Returns the answers of a route, with their bodies, for the OpenAPI document. */
export function answers(
  own: Success & Readonly<Partial<Record<404 | 409 | 413, string>>>,
  found = 'application/json',
): Record<string, unknown> {
  const all = Object.entries<string | readonly [string, z.ZodType]>({ ...COMMON, ...own });
  const shown = all.map(([status, answer]) => {
    const [description, schema, type] =
      typeof answer === 'string' ? [answer, problem, 'application/problem+json'] : [...answer, found];
    return [status, { description, content: { [type]: { schema } } }];
  });
  return Object.fromEntries(shown);
}

/** Returns a checked body. Throws InvalidInputError, also for amounts written as numbers. */
export function bodyOf<T>({ body }: Pick<FastifyRequest, 'body'>, check: (value: unknown) => T): T {
  return checkWith((body as ParsedInput | undefined) ?? { value: undefined, errors: [] }, check);
}

const instructionSignature = z.looseObject({ keyId: z.string(), value: z.string() }).optional();

/** Body of a stop, a resume and a hold. The workflow checks the texts. */
export const instructionBody = z.strictObject({
  by: z.string().optional(),
  reason: z.string(),
  runId: z.string().optional(),
  signature: instructionSignature,
});

/** Returns a body as a schema reads it. Throws InvalidInputError. */
export const bodyBy = <S extends z.ZodType>(request: Pick<FastifyRequest, 'body'>, schema: S): z.output<S> =>
  bodyOf(request, (value) => accepted<z.output<S>>(checkedBy(schema, value)));

/** Returns a body with `by` of the caller. Throws InvalidInputError if it claims another name. */
export function namedBody<S extends z.ZodType<{ by?: string | undefined }>>(
  request: Pick<FastifyRequest, 'body' | 'caller'>,
  schema: S,
): z.output<S> & { by: string } {
  const given = bodyBy(request, schema);
  return { ...given, by: actorOf(request.caller, 'by', given.by) };
}
