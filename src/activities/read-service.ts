import { ApplicationFailure } from '@temporalio/common';
import { z } from 'zod';
import { SERVICE_REJECTED } from '../contract/failures.js';
import { fieldErrors } from '../contract/field-errors.js';
import { READS } from '../contract/reads.js';
import {
  addressListSchema,
  checkRequest,
  InvalidRequestError,
  type OrderStatusQuery,
  orderListSchema,
  orderStatusSchema,
  type PaymentService,
  RejectedError,
} from '../payment-service/index.js';
import { accountOf } from './account-of.js';
import type { ActivityDeps } from './deps.js';
import { invalidInput, retryLater } from './failures.js';

/** More orders than this would not fit into one Temporal payload. */
const MAX_ORDERS = 500;

const inputSchema = z.strictObject({
  account: z.string(),
  read: z.enum(READS),
  query: z.record(z.string(), z.unknown()).optional(),
});

/** One signed read for somebody without secrets. Fails with InvalidInput or ServiceRejected; the rest is repeated. */
export function readServiceActivity(deps: ActivityDeps) {
  return async function readService(raw: { account: string; read: string; query?: unknown }): Promise<unknown> {
    const parsed = inputSchema.safeParse(raw);
    if (!parsed.success) throw invalidInput(fieldErrors(parsed.error));
    const { account, read, query = {} } = parsed.data;
    const { service } = accountOf(deps, account);
    try {
      return await readFrom(service, read, query);
    } catch (error) {
      if (error instanceof InvalidRequestError) throw invalidInput(error.errors.map(inQuery));
      if (error instanceof RejectedError) throw rejected('the service refused the read (400); check the query');
      throw retryLater(error);
    }
  };
}

const inQuery = ({ field, reason }: { field: string; reason: string }) => ({ field: `query.${field}`, reason });

const rejected = (message: string): ApplicationFailure =>
  ApplicationFailure.create({ type: SERVICE_REJECTED, message, nonRetryable: true });

const noQuery = z.strictObject({});

async function readFrom(service: PaymentService, read: (typeof READS)[number], query: unknown): Promise<unknown> {
  switch (read) {
    case 'rates':
      checkRequest(noQuery, query);
      return service.rates();
    case 'balances':
      checkRequest(noQuery, query);
      return service.balances();
    case 'orderStatus': {
      const order = await service.orderStatus(checkRequest(orderStatusSchema, query) as OrderStatusQuery);
      if (!order) throw rejected('the service shows no such order');
      return order;
    }
    case 'orderList': {
      const list = checkRequest(orderListSchema, query);
      if ((list.limit ?? 0) > MAX_ORDERS) {
        throw new InvalidRequestError([{ field: 'limit', reason: `must be at most ${MAX_ORDERS} here; use page` }]);
      }
      return (await service.listOrders(list)).items;
    }
    case 'addressList':
      return (await service.listDepositAddresses(checkRequest(addressListSchema, query))).items;
  }
}
