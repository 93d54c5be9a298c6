import { describe, expect, it } from 'vitest';
import {
  followUpOrderId,
  ORDER_ID_FORMAT,
  ORDER_UUID_FORMAT,
  orderWorkflowId,
  parseFollowUpOrderId,
  parseOrderWorkflowId,
} from '../../src/contract/names.js';
import { ORDER_TYPES, workflowTypeOf } from '../../src/contract/order/types.js';

describe('ids', () => {
  it('of workflows are made of business keys and can be read back, colons in the order id included', () => {
    expect(orderWorkflowId('default', 'pay:1')).toBe('order:default:pay:1');
    expect(parseOrderWorkflowId(orderWorkflowId('eu-1', 'a:b:c'))).toEqual({ account: 'eu-1', orderId: 'a:b:c' });
  });

  it.each(['', 'order:eu', 'order:eu:', 'order:EU:x', 'received:eu:x', 'xorder:eu:x'])('no order is "%s"', (id) => {
    expect(parseOrderWorkflowId(id)).toBeUndefined();
  });

  it('of follow-ups extend the id of their order and can be read back', () => {
    expect(followUpOrderId('pay-1', 2)).toBe('pay-1.r2');
    expect(parseFollowUpOrderId('pay-1.r1.r2')).toEqual({ extendsOrderId: 'pay-1.r1', n: 2 });
  });

  it.each(['pay-1', 'pay-1.r', '.r1', 'pay-1.r12345', 'pay-1.R1', `${'x'.repeat(121)}.r1`])(
    'no follow-up is "%s"',
    (id) => {
      expect(parseFollowUpOrderId(id)).toBeUndefined();
    },
  );

  it('hold nothing that means something in a URL', () => {
    for (const id of ['a', 'A.b_c:d-9', 'x'.repeat(120)]) expect(ORDER_ID_FORMAT.test(id), id).toBe(true);
    for (const id of ['', 'a\n', 'a b', 'a/b', 'x'.repeat(121)]) expect(ORDER_ID_FORMAT.test(id), id).toBe(false);
    expect(ORDER_UUID_FORMAT.test('../x')).toBe(false);
  });
});

it('every order type has a workflow type of its own', () => {
  expect(ORDER_TYPES.map(workflowTypeOf)).toEqual([
    'deposit',
    'depositExchange',
    'depositExchangeWithdraw',
    'exchange',
    'exchangeWithdraw',
    'withdraw',
  ]);
});
