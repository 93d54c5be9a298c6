import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { startDevServer } from '../../scripts/temporal/dev-server.js';
import type { EncryptionKey } from '../../src/config.js';
import { openBatchLab } from '../workflows/batch/batches.fixture.js';
import { foundIn, keyOf, readDatabase, readStoredBytes, type StoredBytes } from './stored-bytes.fixture.js';
import { SECRETS, useEverything } from './use-everything.fixture.js';

const KEYS = [keyOf('2026-11'), keyOf('old')];

/** All that one Temporal server keeps after everything was done once. */
interface Kept extends StoredBytes {
  /** Its files, after it has ended. */
  database: Buffer;
  /** Secrets of the installation, which no Temporal has any use for. */
  credentials: string[];
}

async function keptBy(encryptionKeys?: readonly EncryptionKey[]): Promise<Kept> {
  const folder = await mkdtemp(join(tmpdir(), 'encryption-at-rest-'));
  try {
    const dbFile = join(folder, 'temporal.db');
    const server = await startDevServer({ log: () => undefined, dbFile });
    // What is required refuses nothing that the installation itself writes.
    const encryptionRequired = encryptionKeys !== undefined;
    const lab = await openBatchLab({ encryptionKeys, encryptionRequired, temporalAddress: server.address });
    await useEverything(lab);
    const stored = await readStoredBytes(lab.temporal.client);
    await lab.close();
    await server.stop();
    const credentials = [lab.sandbox.apiKey, lab.sandbox.apiSecret, ...(lab.config.callback?.tokenKeys ?? [])];
    return { ...stored, credentials, database: await readDatabase(dbFile) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

let plain: Kept;
let encrypted: Kept;
beforeAll(async () => {
  [plain, encrypted] = await Promise.all([keptBy(), keptBy(KEYS)]);
});

describe('orders, decisions, follow-ups, batches, schedules, receipts and reads', () => {
  test('leave every secret readable in histories and database without encryption', () => {
    expect(foundIn(plain.database, SECRETS)).toEqual(SECRETS);
    // Schedules are kept beside the histories of the namespace.
    expect(foundIn(plain.histories, SECRETS).length).toBeGreaterThanOrEqual(SECRETS.length - 1);
  });

  test.for(['histories', 'visibility', 'descriptions', 'database'] as const)(
    'leave none of them with encryption: %s',
    (place) => {
      expect(encrypted[place].length).toBeGreaterThan(1_000);
      expect(foundIn(encrypted[place], SECRETS)).toEqual([]);
    },
  );

  test('leave no value of ours in a history plain with encryption, search attributes apart', () => {
    // Names of patches are written by the SDK itself.
    const byOthers = /searchAttributes\.indexedFields|details\.patch-data|: "ACTIVITY_ID_NOT_STARTED"$/;
    const ours = (values: string[]) => values.filter((value) => !byOthers.test(value));
    expect(ours(plain.plainValues).length).toBeGreaterThan(10);
    expect(ours(encrypted.plainValues)).toEqual([]);
  });

  test('leave no key or credential of any kind, encrypted or not', () => {
    const keys = KEYS.map(({ key }) => key.export());
    for (const { histories, visibility, descriptions, database, credentials } of [plain, encrypted]) {
      expect(credentials.length).toBeGreaterThan(2);
      const texts = [...credentials, ...keys.map((key) => key.toString('base64'))];
      for (const bytes of [histories, visibility, descriptions, database]) {
        expect(foundIn(bytes, texts)).toEqual([]);
        expect(keys.some((key) => bytes.includes(key))).toBe(false);
      }
    }
  });

  test('show failures to operators without encryption, and with it only their type', () => {
    const failure = ['InvalidOrder', 'Encoded failure'];
    expect(foundIn(plain.histories, failure)).toEqual(['InvalidOrder']);
    expect(foundIn(encrypted.histories, failure)).toEqual(failure);
  });
});
