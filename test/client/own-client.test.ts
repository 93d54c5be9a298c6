import { createRequire } from 'node:module';
import { Client, Connection } from '@temporalio/client';
import { expect, it } from 'vitest';
import { PaymentOrders } from '../../src/client.js';

const require = createRequire(import.meta.url);

/** Loads the SDK once more, as a backend does that has it in another version. */
function anotherCopy(): typeof import('@temporalio/client') {
  const loaded = Object.entries(require.cache);
  for (const [path] of loaded) if (path.includes('/@temporalio/client/')) delete require.cache[path];
  try {
    return require('@temporalio/client');
  } finally {
    for (const [path, module] of loaded) require.cache[path] = module;
  }
}

it('a client of another copy of the SDK is refused before anything is started with it', async () => {
  const other = anotherCopy();
  const connection = other.Connection.lazy();
  const client = new other.Client({ connection });
  expect(client).not.toBeInstanceOf(Client);
  expect(() => new PaymentOrders(client)).toThrow(/same copy of @temporalio\/client.*PaymentOrders\.connect/);
  await connection.close();
});

it('a client of the same copy is taken', async () => {
  const connection = Connection.lazy();
  expect(new PaymentOrders(new Client({ connection })).client.connection).toBe(connection);
  await connection.close();
});
