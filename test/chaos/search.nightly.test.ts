import { appendFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { expect, onTestFinished, test } from 'vitest';
import { planBatch } from '../../chaos/batch.js';
import { credentials, personalData } from '../../chaos/evidence/hidden.js';
import { searchEverything } from '../../chaos/evidence/search.js';
import type { Hidden } from '../../chaos/evidence/secrets.js';
import { planOrders } from '../../chaos/inputs.js';
import { startDevServer } from '../../scripts/temporal/dev-server.js';
import { searchAttribute } from '../../src/contract/names.js';
import { encryptionCodec } from '../../src/temporal.js';
import { newFolder } from '../support/batch-files.js';
import { madeOrder, SECRETS, SIGNATURE } from './secrets.fixture.js';

const batch = planBatch('1');
const planted = [...planOrders(300, '1'), { orderId: batch.batchId, input: batch.said }];
const service = [madeOrder('d-1')];
const signatures = new Set([SIGNATURE]);
const orderIds = new Set(['chaos-1-00001']);
const all: Hidden[] = [...credentials(SECRETS, signatures, orderIds), ...personalData(planted, service)];
/** One of each kind, as a text. */
const PLANTED = [...new Map(all.map((hidden) => [hidden.kind, hidden])).values()].filter(
  ({ value }) => typeof value === 'string',
);

/** Where a kind can come to light, by the words in which it is told. */
const IN_CLEAR = ['a workflow id of', 'a memo of', 'a search attribute of', "the server's list"];
const FILES = ['logs/worker-1.log', 'reports/a.report.csv', 'temporal.db.log'];
/** The audit record and the lines that repeat it: who chose and why stands there. */
const AUDIT = ['audit/audit-1.ndjson', 'logs/worker-2.log'];

/** What the command line prints: where a client pays and who decided may stand there. */
const SHOWN_TO_PEOPLE = 'logs/starter.log';

/** Places in which each kind was found, of a server and a folder in which every kind stands everywhere. */
async function foundPlaces(
  encrypted: boolean,
): Promise<{ places: Map<string, Set<string>>; neverSeen: readonly string[] }> {
  const folder = newFolder();
  const server = await startDevServer({ log: () => undefined, dbFile: join(folder, 'temporal.db') });
  onTestFinished(() => server.stop());
  const connection = await Connection.connect({ address: server.address });
  onTestFinished(() => connection.close());
  const client = new Client({ connection });
  const handles = await Promise.all(PLANTED.map(({ kind, value }) => plant(client, kind, `${value}`)));
  for (const file of [...FILES, ...AUDIT, SHOWN_TO_PEOPLE]) {
    await mkdir(join(folder, file, '..'), { recursive: true });
    const hash = AUDIT.includes(file) && { auditHash: '0'.repeat(64) };
    for (const { value } of PLANTED)
      await appendFile(join(folder, file), `${JSON.stringify({ said: value, ...hash })}\n`);
  }
  const histories = new Map(
    await Promise.all(handles.map(async (handle) => [handle.workflowId, await handle.fetchHistory()] as const)),
  );
  const stack = { client, codec: encryptionCodec(), encrypted, folder, secrets: SECRETS, signatures };
  const { leaks, searched } = await searchEverything(stack, { planted, service, orderIds, histories });
  const places = new Map(PLANTED.map(({ kind }) => [kind, new Set<string>()]));
  for (const { place, what } of leaks) {
    for (const [kind, found] of places) if (what.startsWith(kind)) found.add(place);
  }
  return { places, neverSeen: searched.neverSeen };
}

/** A workflow that nobody runs, with a value in all that the server stores of it. */
const plant = (client: Client, kind: string, value: string) =>
  client.workflow.start('nobody', {
    taskQueue: 'nobody',
    workflowId: `of ${kind}: ${value}`,
    args: [{ order: { wallet: value } }],
    memo: { note: value },
    typedSearchAttributes: [{ key: searchAttribute.batchId, value }],
    staticSummary: value,
  });

test('each kind is found in each place: where all is encrypted, also in histories and in the database', async () => {
  const encrypted = await foundPlaces(true);
  expect(encrypted.neverSeen).toEqual([]);
  const wanted = [...IN_CLEAR, ...FILES, 'the history of', 'temporal.db-wal'];
  expect(missing(encrypted.places, PLANTED, wanted)).toEqual([]);
  const [shown, hidden] = [true, false].map((of) => PLANTED.filter(({ shown = false }) => shown === of));
  expect(missing(encrypted.places, shown ?? [], [SHOWN_TO_PEOPLE])).toHaveLength(9);
  const audited = PLANTED.filter(({ audited = false }) => audited);
  expect(missing(encrypted.places, audited, AUDIT)).toHaveLength(2 * 3);
  const others = PLANTED.filter((each) => !audited.includes(each));
  expect(missing(encrypted.places, others, AUDIT)).toEqual([]);
  const forPeople = [SHOWN_TO_PEOPLE, 'a summary or the details of'];
  expect(missing(encrypted.places, hidden ?? [], forPeople)).toEqual([]);
});

test('where payloads are plain, personal data may stand in histories and database, and nowhere else; credentials nowhere', async () => {
  const plain = await foundPlaces(false);
  const isCredential = ({ sort }: Hidden) => sort === 'credential';
  const personal = PLANTED.filter((hidden) => !isCredential(hidden));
  expect(missing(plain.places, PLANTED, [...IN_CLEAR, ...FILES])).toEqual([]);
  expect(missing(plain.places, PLANTED.filter(isCredential), ['the history of', 'temporal.db-wal'])).toEqual([]);
  const told = personal.flatMap(({ kind }) => [...(plain.places.get(kind) ?? [])]);
  expect(told.filter((place) => /^the history of|^temporal\.db(-wal)?$/.test(place))).toEqual([]);
});

/** Kinds that were not found in a place where they are. */
const missing = (places: Map<string, Set<string>>, kinds: readonly Hidden[], wanted: readonly string[]): string[] =>
  kinds.flatMap(({ kind }) =>
    wanted
      .filter((place) => ![...(places.get(kind) ?? [])].some((each) => each.startsWith(place)))
      .map((place) => `${kind}: ${place}`),
  );
