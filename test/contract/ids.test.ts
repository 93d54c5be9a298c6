import { describe, expect, it } from 'vitest';
import {
  addressWorkflowId,
  followUpOrderId,
  ORDER_ID_FORMAT,
  ORDER_UUID_FORMAT,
  orderWorkflowId,
  parseFollowUpOrderId,
  parseOrderWorkflowId,
  readWorkflowId,
} from '../../src/contract/names.js';
import { ORDER_TYPES, workflowTypeOf } from '../../src/contract/order/types.js';

describe('workflow ids', () => {
  it('are made of business keys', () => {
    expect(orderWorkflowId('default', 'pay:1')).toBe('order:default:pay:1');
    expect(addressWorkflowId('eu', 'shop')).toBe('address:eu:shop');
    expect(readWorkflowId('eu', '42')).toBe('read:eu:42');
  });

  it('of orders can be read back, colons in the order id included', () => {
    expect(parseOrderWorkflowId(orderWorkflowId('eu-1', 'a:b:c'))).toEqual({ account: 'eu-1', orderId: 'a:b:c' });
  });

  it.each(['', 'order:eu', 'order:eu:', 'order:EU:x', 'received:eu:x', 'xorder:eu:x'])(
    'reads nothing out of "%s"',
    (id) => {
      expect(parseOrderWorkflowId(id)).toBeUndefined();
    },
  );
});

describe('follow-up ids', () => {
  it('extend the id of their order and can be read back', () => {
    expect(followUpOrderId('pay-1', 2)).toBe('pay-1.r2');
    expect(parseFollowUpOrderId('pay-1.r2')).toEqual({ extendsOrderId: 'pay-1', n: 2 });
    expect(parseFollowUpOrderId('pay-1.r1.r2')).toEqual({ extendsOrderId: 'pay-1.r1', n: 2 });
  });

  it.each(['pay-1', 'pay-1.r', '.r1', 'pay-1.r12345', 'pay-1.R1', `${'x'.repeat(121)}.r1`])('"%s" is none', (id) => {
    expect(parseFollowUpOrderId(id)).toBeUndefined();
  });
});

describe('formats', () => {
  it.each(['a', 'A.b_c:d-9', 'x'.repeat(120)])('order id %s fits', (id) => {
    expect(ORDER_ID_FORMAT.test(id)).toBe(true);
  });

  it.each(['', 'a\n', 'a b', 'a/b', 'x'.repeat(121)])('order id %j does not fit', (id) => {
    expect(ORDER_ID_FORMAT.test(id)).toBe(false);
  });

  it('order uuids hold nothing that means something in a URL', () => {
    expect(ORDER_UUID_FORMAT.test('0d6ae69e-0000-4000-8000-000000000001')).toBe(true);
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
