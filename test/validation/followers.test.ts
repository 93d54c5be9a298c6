import { describe, expect, it, test } from 'vitest';
import { echoDifferences } from '../../src/contract/differences/echo.js';
import { parseReceivedWorkflowId, receivedWorkflowId } from '../../src/contract/names.js';
import { receivedRequest, recoveredStart } from '../../src/contract/order/followers.js';
import { ORDER_TYPES } from '../../src/contract/order/types.js';
import type { Order } from '../../src/contract/service-objects.js';
import { validateOrderInput, validateReceivedInput, validateRecoveredInput } from '../../src/validation/order-input.js';
import { inputOf, orderFor, REQUESTS, TRON } from '../contract/inputs.fixture.js';

const fieldsOf = (checked: ReturnType<typeof validateReceivedInput | typeof validateRecoveredInput>) =>
  'errors' in checked ? checked.errors.map(({ field }) => field) : [];

describe('the workflow id of a received order', () => {
  it('is made of account and order_uuid and can be read back', () => {
    expect(receivedWorkflowId('eu-1', 'A-b-1')).toBe('received:eu-1:A-b-1');
    expect(parseReceivedWorkflowId('received:eu-1:A-b-1')).toEqual({ account: 'eu-1', orderUuid: 'A-b-1' });
  });

  it.each(['', 'order:eu:x', 'received:EU:x', 'received:eu:', 'received:eu:a:b', `received:eu:${'a'.repeat(65)}`])(
    'is not "%s"',
    (id) => expect(parseReceivedWorkflowId(id)).toBeUndefined(),
  );
});

describe('the input of a received order', () => {
  const INPUT = { ref: 'shop-7', order_uuid: 'a-1' };

  it.each([INPUT, { ...INPUT, compensation: 'revert', revertTo: { network: 'tron', wallet: TRON } }])(
    'may be %j',
    (input) => expect(validateReceivedInput(input)).toEqual({ input }),
  );

  it.each([
    [null, 'input'],
    [{ order_uuid: 'a-1' }, 'ref'],
    [{ ...INPUT, order_uuid: 'a/1' }, 'order_uuid'],
    [{ ...INPUT, compensation: 'revert' }, 'revertTo'],
    [{ ...INPUT, revertTo: { network: 'tron', wallet: 'a b' } }, 'revertTo.wallet'],
    [{ ...INPUT, order: {} }, 'order'],
  ])('%j is refused by naming %s', (input, field) => expect(fieldsOf(validateReceivedInput(input))).toEqual([field]));

  it('stands for an order that is named by its order_uuid', () => {
    const order = orderFor('deposit_exchange', REQUESTS.deposit_exchange, { user_order_id: 'rcv-1' });
    expect(receivedRequest('deposit_exchange', order)).toEqual({
      ...REQUESTS.deposit_exchange,
      order_id: order.order_uuid,
    });
  });
});

describe('a run that was rebuilt from the order list', () => {
  const rebuilt = (order: Order) => recoveredStart('eu', { ...order, balance_changes: [] });

  test.each(ORDER_TYPES)('%s: its input is valid, names the order and passes the echo check', (type) => {
    const order = orderFor(type, REQUESTS[type], { wallet_to: '411111******1111' });
    const start = rebuilt(order);
    expect(start).toMatchObject({
      type,
      input: {
        account: 'eu',
        compensation: 'report',
        resend: 'never',
        recovered: { order_uuid: order.order_uuid, listed: order },
      },
    });
    expect(validateRecoveredInput(type, start?.input)).toEqual({ input: start?.input });
    // It is refused where orders are sent.
    expect(validateOrderInput(type, start?.input)).toMatchObject({
      errors: expect.arrayContaining([expect.objectContaining({ field: 'recovered' })]),
    });
    expect(echoDifferences(type, start?.input.order ?? REQUESTS[type], order)).toEqual({ hard: [], soft: [] });
  });

  test('of an unknown type cannot be started', () => {
    expect(rebuilt(orderFor('withdraw', REQUESTS.withdraw, { order_type: 'swap' }))).toBeUndefined();
  });

  const { input } = rebuilt(orderFor('withdraw', REQUESTS.withdraw)) ?? {};
  it.each([
    [{ ...input, compensation: 'finish' }, 'compensation'],
    [{ ...input, resend: 'once' }, 'resend'],
    [{ ...input, revertTo: { network: 'tron', wallet: TRON } }, 'revertTo'],
    [{ ...input, recovered: true }, 'recovered'],
    [{ ...input, recovered: { order_uuid: 'a', more: 1 } }, 'recovered.more'],
    [{ ...input, order: { ...input?.order, order_id: 'a b' } }, 'order.order_id'],
  ])('is refused with a bad field (%#): %s', (bad, field) => {
    expect(fieldsOf(validateRecoveredInput('withdraw', bad))).toEqual([field]);
  });

  test('without the wallet compares everything else; a normal request still compares the wallet', () => {
    const order = orderFor('withdraw', REQUESTS.withdraw, { wallet_to: '5555555555554444' });
    const { order: known } = rebuilt(order)?.input ?? inputOf('withdraw');
    expect(echoDifferences('withdraw', known, { ...order, network_to: 'sepa' }).hard).toEqual(['network']);
    expect(echoDifferences('withdraw', REQUESTS.withdraw, order).hard).toEqual(['wallet']);
  });
});
