import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type DevServer, startDevServer } from '../../scripts/temporal/dev-server.js';
import { ORDER_TYPES, type OrderInput, type OrderType } from '../../src/contract/orders.js';
import { orderInput } from '../support/inputs.js';
import { type Lab, newOrderId, openLab } from '../support/lab.js';
import { foundIn, keyOf, readDatabase, readStoredBytes, type StoredBytes } from './fixtures/stored-bytes.js';

const AMOUNT = '1173.19';
const DESCRIPTION = 'a gift for aunt Ann';
const EMAIL = 'aunt.ann@example.com';
const REFUND_WALLET = '5555555555554444';
const BY = 'olga-of-the-night-shift';

/** An order with everything that is nobody's business. */
function secretInput<T extends OrderType>(type: T, marker: string, options: Partial<OrderInput<T>> = {}) {
  const input = orderInput(type, newOrderId(type.replaceAll('_', '-')), options as object);
  const description = `${DESCRIPTION} [sandbox pay_ms=20 after_ms=20 ${marker}]`;
  const order = { ...input.order, amount: AMOUNT, description, client_info: { client_email: EMAIL } };
  return { ...input, order } as OrderInput<T>;
}

/** An order of every type to its end. */
async function completeAll({ orders }: Lab): Promise<void> {
  const ends = ORDER_TYPES.map(async (type) => {
    const { handle } = await orders.create(type, secretInput(type, ''));
    expect(await handle.final()).toMatchObject({ status: 'completed' });
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
    expect(await handle.state()).toMatchObject({ phase: 'done', order: { user_order_id: handle.orderId } });
  });
  await Promise.all(ends);
}

/** A partial order that a person refunds by a follow-up, an address, a read and a refused order. */
async function useEverythingElse({ orders }: Lab): Promise<void> {
  const input = secretInput('deposit_exchange_withdraw', 'outcome=completed_partially left=unexchanged', {
    compensation: 'ask',
  });
  const parked = await orders.start('deposit_exchange_withdraw', input);
  await vi.waitUntil(async () => (await parked.state()).phase === 'parked', { timeout: 20_000, interval: 50 });
  const { revision } = await parked.state();
  const revertTo = { network: 'card', wallet: REFUND_WALLET };
  await parked.decide({ action: 'revert', by: BY, reason: DESCRIPTION, revision, revertTo });
  expect(await parked.result()).toMatchObject({ compensation: { status: 'done' }, decisions: [{ by: BY }] });
  await orders.createAddress({
    ref: 'vault',
    address: { currency: 'usdt', network: 'tron', client_info: { client_email: EMAIL } },
  });
  expect(await orders.balances()).toHaveProperty('usd');
  const tooMuch = secretInput('withdraw', '');
  const refused = await orders.start('withdraw', { ...tooMuch, order: { ...tooMuch.order, amount: '99999999.01' } });
  await expect(refused.result()).rejects.toThrow('above max_amount_from, 100000 usd');
}

interface Site {
  lab: Lab;
  server: DevServer;
  folder: string;
  dbFile: string;
  /** What the API tells after all orders have ended, and the database after the server has. */
  stored: StoredBytes & { database: Buffer };
  /** Every text that must not be found, from the orders and from what the service made of them. */
  secrets: string[];
}

/** A Temporal server of its own, everything done once, and all that it keeps. */
async function openSite(encryptionKeys?: Parameters<typeof openLab>[0]): Promise<Site> {
  const folder = await mkdtemp(join(tmpdir(), 'encryption-at-rest-'));
  const dbFile = join(folder, 'temporal.db');
  const server = await startDevServer({ log: () => undefined, dbFile });
  const lab = await openLab({ ...encryptionKeys, temporalAddress: server.address });
  await completeAll(lab);
  await useEverythingElse(lab);
  await vi.waitUntil(async () => (await lab.orders.list({ status: 'completed' })).length >= ORDER_TYPES.length, 10_000);
  const stored = await readStoredBytes(lab.temporal.client);
  const made = lab.sandbox.orders().map(({ order }) => order.deposit_address);
  const wallets = ORDER_TYPES.flatMap((type) => Object.entries(orderInput(type, 'x').order)).flatMap(([name, value]) =>
    name === 'wallet' ? [String(value)] : [],
  );
  const given = [AMOUNT, DESCRIPTION, EMAIL, REFUND_WALLET, BY, ...wallets, 'max_amount_from', '99999999.01'];
  const secrets = [
    ...new Set([...given, ...made.filter((text) => typeof text === 'string' && text !== '')]),
  ] as string[];
  await lab.close();
  await server.stop();
  return { lab, server, folder, dbFile, secrets, stored: { ...stored, database: await readDatabase(dbFile) } };
}

let plain: Site;
let encrypted: Site;
beforeAll(async () => {
  [plain, encrypted] = await Promise.all([openSite(), openSite({ encryptionKeys: [keyOf('2026-11'), keyOf('old')] })]);
}, 120_000);
afterAll(async () => {
  for (const { folder } of [plain, encrypted]) await rm(folder, { recursive: true, force: true });
});

describe('an order of every type, a decision, a follow-up, reads, an address and a refused order', () => {
  test('leave every secret readable in histories and database without encryption', () => {
    expect(plain.secrets.length).toBeGreaterThanOrEqual(10);
    expect(foundIn(plain.stored.histories, plain.secrets)).toEqual(plain.secrets);
    expect(foundIn(plain.stored.database, plain.secrets)).toEqual(plain.secrets);
    expect(foundIn(plain.stored.descriptions, [AMOUNT])).toEqual([AMOUNT]);
  });

  test.for(['histories', 'visibility', 'descriptions', 'database'] as const)(
    'leave none of them with encryption: %s',
    (place) => {
      const bytes = encrypted.stored[place];
      expect(bytes.length).toBeGreaterThan(1_000);
      expect(foundIn(bytes, encrypted.secrets)).toEqual([]);
    },
  );

  test('leave no value of ours in a history plain with encryption, search attributes apart', () => {
    const bySearchOrServer = /searchAttributes\.indexedFields|: "ACTIVITY_ID_NOT_STARTED"$/;
    const others = (values: string[]) => values.filter((value) => !bySearchOrServer.test(value));
    expect(others(plain.stored.plainValues).length).toBeGreaterThan(10);
    expect(others(encrypted.stored.plainValues)).toEqual([]);
  });

  test('leave no key or secret of any kind, encrypted or not', () => {
    for (const { stored, lab } of [plain, encrypted]) {
      const { apiKey, apiSecret, callback } = { ...lab.sandbox, ...lab.config };
      const keys = ['2026-11', 'old'].map((id) => keyOf(id).key.export());
      const texts = [apiKey, apiSecret, ...(callback?.tokenKeys ?? []), ...keys.map((key) => key.toString('base64'))];
      for (const bytes of [stored.histories, stored.visibility, stored.descriptions, stored.database]) {
        expect(foundIn(bytes, texts)).toEqual([]);
        expect(keys.some((key) => bytes.includes(key))).toBe(false);
      }
    }
  });

  test('show failures to operators without encryption, and with it only their type', () => {
    const failure = ['InvalidOrder', 'Encoded failure'];
    expect(foundIn(plain.stored.histories, failure)).toEqual(['InvalidOrder']);
    expect(foundIn(encrypted.stored.histories, failure)).toEqual(failure);
  });
});
