import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Client } from '@temporalio/client';
import { callbackUrl } from '../../src/contract/callback-url.js';
import { orderWorkflowId } from '../../src/contract/names.js';
import type * as ClientModule from '../../src/payment-service/client.js';
import type * as SignersModule from '../../src/payment-service/signers.js';
import { REQUEST } from '../contenders.js';
import { floorActivities } from '../floor/activities.js';
import { idleShares, inLanes, usedBy } from '../measure.js';
import { type Bench, type Part, productsOf } from '../part.js';
import type { Product } from '../product.js';
import { postGenuine } from '../receiver-attacks/genuine.js';
import { SERVICE_KEYS } from '../service.js';
import { TOKEN_KEY } from '../stand.js';
import type { Figure, Row, Table } from '../table.js';

const RECEIVER_FIGURES: readonly Figure[] = [
  { id: 'perSecond', title: 'callbacks/s', drawn: true },
  { id: 'cpuMs', title: 'its CPU a callback', unit: 'ms', drawn: true },
];
const CLIENT_FIGURES: readonly Figure[] = [
  { id: 'perSecond', title: 'requests/s', drawn: true },
  { id: 'cpuMs', title: 'CPU a request', unit: 'ms', drawn: true },
];

const LANES = 20;
/** A receiver takes 120 callbacks of an order at once. */
const CALLBACKS_PER_ORDER = 100;
const BARE = 'bare node:http';
const BARE_GOT = 'bare got';

/** Something that is done so often in a round. */
interface Door {
  name: string;
  against?: string;
  /** Whose CPU counts; undefined: this process. */
  pid?: number;
  once(n: number): Promise<unknown>;
}

/** Each in every round, in turns. */
async function takeTurns(doors: readonly Door[], rounds: number, count: number): Promise<Row[]> {
  const rows: Row[] = doors.map(({ name, against }) => ({ name, ...(against && { against }), rounds: [] }));
  const idle = await idleShares(doors.map(({ pid = process.pid }) => pid));
  for (const { once } of doors) await inLanes(LANES * 5, LANES, async (n) => void (await once(n)));
  for (let round = 1; round <= rounds; round += 1) {
    for (const [index, { once, pid = process.pid }] of doors.entries()) {
      const { seconds, cpuMs } = await usedBy([pid], idle, () =>
        inLanes(count, LANES, async (n) => void (await once(round * count + n))),
      );
      rows[index]?.rounds.push({ perSecond: count / seconds, cpuMs: (cpuMs[0] ?? Number.NaN) / count });
    }
  }
  return rows;
}

/** Orders that take signals and need no worker for that. */
async function openOrders(client: Client, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, n) => `door-${n}`);
  await inLanes(count, LANES, async (n) => {
    const workflowId = orderWorkflowId('default', `door-${n}`);
    await client.workflow.start('withdraw', { workflowId, taskQueue: 'nobody', args: [] });
  });
  return ids;
}

async function accepted(url: string, orderId: string): Promise<void> {
  if ((await postGenuine(url, orderId)) === undefined) throw new Error(`a callback of ${orderId} was not accepted`);
}

async function receivers(bench: Bench): Promise<Row[]> {
  const { stand, options } = bench;
  const { rounds, requests } = options;
  const { client, env } = await stand.emptyNamespace('doors');
  const ids = await openOrders(client, Math.ceil((requests * (rounds + 1)) / CALLBACKS_PER_ORDER));
  const idOf = (n: number): string => ids[n % ids.length] ?? '';
  const bare = await stand.node(['--import', 'tsx', 'bench/floor/receiver.ts'], env);
  const doors: Door[] = [
    {
      name: BARE,
      pid: bare.pid,
      once: (n) => accepted(`${bare.ready.receiver}/${orderWorkflowId('default', idOf(n))}`, idOf(n)),
    },
  ];
  for (const product of productsOf(bench)) {
    const { pid, ready } = await stand.receiver(product, env);
    const urlOf = (orderId: string) =>
      callbackUrl(ready.receiver ?? '', TOKEN_KEY, { kind: 'order', account: 'default', orderId });
    doors.push({ name: product.name, against: BARE, pid, once: (n) => accepted(urlOf(idOf(n)), idOf(n)) });
  }
  return takeTurns(doors, rounds, requests);
}

/** The client of a build. */
async function serviceOf({ dist }: Product, baseUrl: string) {
  const load = (path: string) => import(pathToFileURL(join(dist, 'payment-service', path)).href);
  const { createPaymentService } = (await load('client.js')) as typeof ClientModule;
  const { loadSigner } = (await load('signers.js')) as typeof SignersModule;
  return createPaymentService({ baseUrl, ...SERVICE_KEYS, sign: await loadSigner('hmac-sha256') });
}

async function clients(bench: Bench): Promise<Row[]> {
  const { stand, options } = bench;
  const service = await stand.anotherService();
  const where = { ...SERVICE_KEYS, baseUrl: service.url, callbackBaseUrl: '', tokenKey: TOKEN_KEY };
  const bare = floorActivities(where, undefined as unknown as Client);
  await bare.create({ order_id: 'door', ...REQUEST });
  const doors: Door[] = [{ name: BARE_GOT, once: () => bare.status('door') }];
  for (const product of productsOf(bench)) {
    const { orderStatus } = await serviceOf(product, service.url);
    doors.push({ name: product.name, against: BARE_GOT, once: () => orderStatus({ order_id: 'door' }) });
  }
  return takeTurns(doors, options.rounds, options.requests);
}

async function measure(bench: Bench): Promise<Table[]> {
  const title = `a receiver, ${LANES} callbacks at a time`;
  const clientTitle = `signed status requests, ${LANES} at a time`;
  return [
    { id: 'receiver', title, figures: RECEIVER_FIGURES, rows: await receivers(bench) },
    { id: 'client', title: clientTitle, figures: CLIENT_FIGURES, rows: await clients(bench) },
  ];
}

/** What comes in and goes out over HTTP, beside the least that does the same. */
export const doors: Part = {
  name: 'doors',
  about: 'callbacks a second of the receiver and requests a second of the client, beside bare ones',
  measure,
};
