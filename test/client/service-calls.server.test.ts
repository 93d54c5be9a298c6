import { describe, expect, it } from 'vitest';
import { useClient } from './client.fixture.js';

const fixture = useClient();

describe('a signed read', () => {
  it.each(['rates', 'balances'] as const)('of %s names account and read', async (read) => {
    expect(await fixture.orders[read]()).toEqual({ account: 'default', read, query: null });
    expect(await fixture.orders[read]('shop')).toMatchObject({ account: 'shop' });
  });

  it('passes its query on', async () => {
    expect(await fixture.orders.orderStatus({ order_uuid: 'u-1' })).toMatchObject({ query: { order_uuid: 'u-1' } });
    expect(await fixture.orders.orderList({ limit: 5 })).toMatchObject({ read: 'orderList', query: { limit: 5 } });
    expect(await fixture.orders.addressList()).toMatchObject({ read: 'addressList', query: {} });
  });

  it('that the service refuses says so', async () => {
    await expect(fixture.orders.orderStatus({ order_id: 'refused' })).rejects.toMatchObject({
      name: 'FailedError',
      type: 'ServiceRejected',
    });
  });

  it('with a bad query names the field', async () => {
    await expect(fixture.orders.orderStatus({ order_id: 'invalid' })).rejects.toMatchObject({
      name: 'InvalidInputError',
      fields: [{ field: 'limit', reason: 'at most 500' }],
    });
  });

  it('of an account that cannot be one is refused here', async () => {
    await expect(fixture.orders.rates('Shop!')).rejects.toMatchObject({ name: 'InvalidInputError' });
  });
});

describe('a permanent address', () => {
  const address = { currency: 'usdt', network: 'tron' };

  it('is the same one for the same reference', async () => {
    const first = await fixture.orders.createAddress({ ref: 'client-1', address });
    expect(first.address.uuid).toBe('address-client-1');
    expect(await fixture.orders.createAddress({ ref: 'client-1', address })).toEqual(first);
  });

  it('is refused when its reference belongs to another one', async () => {
    await fixture.orders.createAddress({ ref: 'client-2', address });
    const other = { ...address, network: 'ethereum' };
    await expect(fixture.orders.createAddress({ ref: 'client-2', address: other })).rejects.toThrow(/ref: belongs to/);
  });

  it('is refused for a reference that cannot be one', async () => {
    await expect(fixture.orders.createAddress({ ref: 'a b', address })).rejects.toMatchObject({
      name: 'InvalidInputError',
    });
  });
});
