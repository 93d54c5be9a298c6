import { beforeAll, describe, expect, test } from 'vitest';
import { FailedError } from '../../../src/client/errors.js';
import { ORDER_TYPES, type OrderType } from '../../../src/contract/order/types.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useLab } from '../../support/lab.js';
import { serviceView } from './service-view.fixture.js';

/** Executed, but the answer does not say so: the order is found and adopted, never sent again. */
const EXECUTED = [
  ...['500', '502', '503', '504', 'reset', 'truncated', 'oversized', 'html', 'status-error', 'crossed'],
  ...['missing-field', 'missing-field field=user_order_id', 'missing-field field=status'],
  // Both last until the client's total timeout of 20 s; all orders of this file run at the same time.
  ...['no-answer', 'drip'],
  ...['400-after', '401-after', '403-after', '404-after', '409-after', '422-after', '429-after'],
  ...['301-after', '308-after'],
  // Executed after the answer, within the settle window of 1 s.
  ...['500-later later_ms=700', '401-later later_ms=700', 'reset-later later_ms=700', 'html-later later_ms=700'],
  ...['400-later later_ms=700'],
];

/** Not executed and not clear about it: absence is proven, then the create is sent again, once. */
const NOT_EXECUTED = [
  ...['500-before', '502-before', '503-before', '504-before', 'reset-before', 'truncated-before', 'html-before'],
  ...['status-error-before', 'missing-field-before', 'oversized-before', 'no-answer-before'],
  ...['401', '403', '404', '405', '409', '410', '413', '422'],
  ...['301', '302', '303', '307', '308'],
];

/** The answer is late or strange, but it is clearly about our order. */
const ACCEPTED = ['extra-fields', 'unknown-status', 'slow slow_ms=1500'];

/** Not executed: sent again once absence is proven, as often as it takes, without counting as a re-send. */
const TOO_MANY = [
  { fault: '429 retry_after=1', creates: 2 },
  { fault: '429-date', creates: 2 },
  { fault: '429-garbage', creates: 2 },
  { fault: '429 retry_after=1 times=3', creates: 4 },
];

type Case = { type: OrderType; fault: string; creates: number; adopted: boolean; orderId: string };

const caseOf = (type: OrderType, fault: string, expected: Pick<Case, 'creates' | 'adopted'>): Case => ({
  ...{ type, fault, ...expected },
  orderId: newOrderId('recovery'),
});

const CASES: Case[] = [
  ...EXECUTED.map((fault) => caseOf('withdraw', fault, { creates: 1, adopted: true })),
  ...NOT_EXECUTED.map((fault) => caseOf('withdraw', fault, { creates: 2, adopted: false })),
  ...ACCEPTED.map((fault) => caseOf('withdraw', fault, { creates: 1, adopted: false })),
  ...TOO_MANY.map(({ fault, creates }) => caseOf('withdraw', fault, { creates, adopted: false })),
  ...ORDER_TYPES.flatMap((type) => [
    caseOf(type, '503', { creates: 1, adopted: true }),
    caseOf(type, '503-before', { creates: 2, adopted: false }),
  ]),
  // Nothing moves at the create of a deposit, so it may be sent again twice.
  caseOf('deposit', '503-before times=2', { creates: 3, adopted: false }),
];

const REJECTED = ORDER_TYPES.map((type) => ({ type, orderId: newOrderId('rejected') }));

const lab = useLab();
beforeAll(async () => {
  const start = (type: OrderType, orderId: string, fault: string) =>
    lab.orders.start(type, orderInput(type, orderId, { marker: `create=${fault}` }));
  await Promise.all([
    ...CASES.map(({ type, orderId, fault }) => start(type, orderId, fault)),
    ...REJECTED.map(({ type, orderId }) => start(type, orderId, '400')),
  ]);
});

describe('a create that fails', () => {
  test.for(CASES.map((each) => [each.type, each.fault, each.creates, each] as const))(
    '%s, %s: executed once with %i create(s)',
    async ([, , creates, { orderId, adopted }]) => {
      const result = await lab.orders.order(orderId).result();
      expect(result).toMatchObject({ outcome: 'completed', adopted, order: { user_order_id: orderId } });
      expect(serviceView(lab, orderId)).toEqual({ creates, executed: 1, blindCreates: 0 });
    },
  );

  test('follows no redirect', () => {
    expect(lab.sandbox.stats().redirectHits).toBe(0);
  });
});

describe('a create that the service refuses with 400', () => {
  test.for(REJECTED)('$type: ends as OrderRejected once the order is proven absent', async ({ orderId }) => {
    const error = await lab.orders
      .order(orderId)
      .result()
      .then(JSON.stringify, (reason: unknown) => reason);
    expect(error).toBeInstanceOf(FailedError);
    expect(error).toMatchObject({ type: 'OrderRejected', id: orderId });
    const { message } = error as FailedError;
    expect(message).toContain('(HTTP 400: injected by the sandbox)');
    expect(message).toContain('(order/status answers HTTP 400: order not found)');
    const { workflowId } = lab.orders.order(orderId);
    const failed = lab.temporal.client.workflow.getHandle(workflowId).result();
    // The second is for a run that is started again: it looks and sends nowhere else.
    const details = [
      { answer: 'HTTP 400: injected by the sandbox' },
      { sentTo: { account: expect.stringContaining(`${lab.sandbox.url}#`) } },
    ];
    await expect(failed).rejects.toMatchObject({ cause: { details } });
    expect(message).not.toMatch(/(new|another|other)( order)? id/);
    expect(serviceView(lab, orderId)).toEqual({ creates: 1, executed: 0, blindCreates: 0 });
    // Its probe is repeated where it grew older than 2 s, so the create is not always the second request.
    const requests = lab.requestsOf(orderId);
    const create = requests.findIndex((path) => !path.endsWith('/list'));
    // A list that shows others is followed by one of its next page.
    expect(requests[create + 1]).toBe('/v2/order/list');
    expect(requests.slice(create + 2, create + 4)).toContain('/v2/order/status');
  });
});
