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
  RejectedError,
} from '../payment-service/index.js';
import { accountOf } from './account-of.js';
import { shownAddress } from './address-search.js';
import { readBalances } from './balances.js';
import type { Account, ActivityDeps } from './deps.js';
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
    try {
      return await readFrom(accountOf(deps, account), read, query);
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

async function readFrom(account: Account, read: (typeof READS)[number], query: unknown): Promise<unknown> {
  const { service } = account;
  switch (read) {
    case 'rates':
      checkRequest(noQuery, query);
      return service.rates();
    case 'balances':
      checkRequest(noQuery, query);
      return readBalances(account);
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
      return (await service.listDepositAddresses(checkRequest(addressListSchema, query))).items.map(shownAddress);
  }
}
