import { execFileSync } from 'node:child_process';
import { hash, randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdirSync, readdirSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { startBatch } from '../../src/client/batch/start-batch.js';
import { orderQuery } from '../../src/client/list-orders.js';
import { cursorOf } from '../../src/client/pages.js';
import { STOP_MEMO } from '../../src/contract/names.js';
import { cardNumber } from '../support/batch-files.js';
import { EVENT_SECRET, startEventReceiver } from '../support/event-receiver.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId } from '../support/lab.js';
import { rogueAt } from '../temporal/rogue.fixture.js';
import type { BatchLab } from '../workflows/batch/batches.fixture.js';

/** Sends one request of a caller, whose name is its key, and resolves to the status. */
export type Ask = (path: string, options?: { key?: string; method?: string; body?: unknown }) => Promise<number>;

/** What a neighbour does; `told` expects what was refused, and returns its figures. */
export interface Attack {
  /** Settings of the worker, also before the attack. */
  env?: Record<string, string>;
  begin?(): unknown;
  /** One of its requests, and all answers that it may get. */
  send?(ask: { api: Ask; codec: Ask }, n: number): Promise<unknown>;
  answers?: unknown[];
  /** How many requests it sends a second, or at once. */
  perSecond?: number;
  atOnce?: number;
  told(times: ReadonlyMap<unknown, number>, waiting: number): string | Promise<string>;
}

const MIB = 2 ** 20;
const RECEIVERS = 32;

/**
 * Code for a process. Once `pipe` is there, a silent `server` is asked for names below .example,
 * and the system's look-up of them takes a thread for ever.
 */
const resolverCode = (server: string, pipe: string) => `
  import dns from 'node:dns'; import { existsSync, open } from 'node:fs'; import { syncBuiltinESMExports } from 'node:module';
  const { lookup } = dns; const { Resolver } = dns.promises;
  dns.lookup = (name, options, done) => !name.endsWith('.example') ? lookup(name, options, done)
    : open('${pipe}', () => lookup('127.0.0.1', options, done));
  dns.promises.Resolver = class extends Resolver {
    constructor(options) { super(options); this.setServers(['${server}']); }
    resolve4(name) { return existsSync('${pipe}') ? super.resolve4(name) : Promise.resolve(['127.0.0.1']); }
    resolve6(name) { return existsSync('${pipe}') ? super.resolve6(name) : Promise.resolve([]); }
  };
  syncBuiltinESMExports();`;

async function silentNames({ sandbox, folder }: BatchLab): Promise<Attack> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1').unref();
  await once(socket, 'listening');
  let unanswered = 0;
  socket.on('message', () => {
    unanswered += 1;
  });
  const receiver = await startEventReceiver('hooks');
  const hooks = Array.from({ length: RECEIVERS }, (_, n) => ({
    ...{ name: `hooks${n}`, url: `http://hooks${n}.example:${receiver.port}/`, secrets: [EVENT_SECRET] },
    ...{ kinds: ['order.ended'], allowPrivate: true },
  }));
  const [events, pipe] = [join(folder, 'events.json'), join(folder, 'names.pipe')];
  writeFileSync(events, JSON.stringify(hooks), { mode: 0o600 });
  const code = resolverCode(`127.0.0.1:${socket.address().port}`, pipe);
  return {
    env: {
      ...{ EVENTS_FILE: events, PAYMENT_BASE_URL: sandbox.url.replace('127.0.0.1', 'localhost') },
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}`,
    },
    begin: () => execFileSync('mkfifo', [pipe]),
    told: async () => {
      await receiver.close();
      expect.soft(receiver.received.length).toBeGreaterThan(RECEIVERS);
      expect.soft(unanswered).toBeGreaterThanOrEqual(RECEIVERS);
      return `${receiver.received.length} events before it, ${unanswered} questions without an answer`;
    },
  };
}

async function largePages({ folder, temporal: { client } }: BatchLab): Promise<Attack> {
  const line = (n: number) => `large-${n},usd,card,12.50,${cardNumber(n)},${'x'.repeat(250)}`;
  const rows = Array.from({ length: 100_000 }, (_, n) => line(n + 1));
  const text = ['order_id,currency,network,amount,wallet,description', ...rows, ''].join('\n');
  writeFileSync(join(folder, 'large.csv'), text, { mode: 0o600 });
  const file = { path: 'large.csv', sha256: hash('sha256', text) };
  // No worker plans it: its pages come from the file alone.
  const { workflowId } = await startBatch(client, { batchId: 'large', file, startedBy: 'ann' });
  await client.workflow.getHandle(workflowId).terminate();
  return {
    send: ({ api }, n) => api(`/v1/batches/large/rows?limit=500&cursor=${(n * 7_919) % 99_000}`, { key: 'reader' }),
    ...{ atOnce: 20, answers: [200, 429, 503] },
    told: (times) => {
      expect.soft(times.get(200)).toBeGreaterThan(0);
      expect.soft(times.get(429)).toBeGreaterThan(0);
      return '';
    },
  };
}

/** Most of the budget is used before: each part takes the machine a third of a second. */
function unfinishedParts({ folder }: BatchLab): Attack {
  const uploads = join(folder, 'uploads', 'default');
  const used = join(uploads, 'f'.repeat(64));
  const sha256 = randomBytes(32).toString('hex');
  return {
    begin: () => {
      mkdirSync(used, { recursive: true, mode: 0o700 });
      writeFileSync(join(used, '1-of-2.part'), '');
      truncateSync(join(used, '1-of-2.part'), 120 * MIB);
    },
    send: ({ api }, n) => {
      const path = `/v1/batch-files/${sha256}/${(n % 31) + 1}?parts=32`;
      return api(path, { key: 'starter', method: 'PUT', body: randomBytes(MIB) });
    },
    ...{ atOnce: 4, answers: [200, 429, 503] },
    told: (times) => {
      const parts = readdirSync(uploads, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
      const mib = parts.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0) / MIB;
      expect.soft(times.get(503)).toBeGreaterThan(0);
      expect.soft(mib).toBeLessThanOrEqual(128);
      expect.soft(mib).toBeGreaterThan(122);
      return `${mib} MiB stored`;
    },
  };
}

/** Starts above the cap wait for a person. */
const waits = (): Attack => ({
  env: { PAYMENT_ORDER_CAPS: JSON.stringify({ usd: '100' }) },
  send: ({ api }) => {
    const order = { ...orderInput('withdraw', newOrderId('waits')).order, amount: '500' };
    return api('/v1/orders?wait=60', { key: 'starter', body: { order_type: 'withdraw', order } });
  },
  ...{ perSecond: 50, answers: [429] },
  told: (_, waiting) => {
    expect.soft(waiting).toBeLessThanOrEqual(100);
    expect.soft(waiting).toBeGreaterThan(50);
    return '';
  },
});

const foreignStop =
  (mode: string) =>
  (lab: BatchLab): Attack => ({
    env: { PAYLOAD_ENCRYPTION: mode },
    send: async () => {
      await rogueAt(lab).client.workflow.start('accountStop', {
        ...{ workflowId: 'stop:default', taskQueue: 'nobody', args: [] },
        memo: { [STOP_MEMO]: { by: 'nobody', reason: 'because', at: new Date().toISOString() } },
        workflowIdConflictPolicy: 'TERMINATE_EXISTING',
      });
      return 'started';
    },
    ...{ perSecond: 2, answers: ['started'] },
    told: async () => {
      const { foreign, stop } = await lab.orders.accounts.state('default');
      expect.soft([typeof foreign, stop]).toEqual(['string', undefined]);
      return '';
    },
  });

const EMPTY = Buffer.from(JSON.stringify({ payloads: Array(349_525).fill({}) }));

function emptyPayloads(): Attack {
  const othersMs: number[] = [];
  return {
    send: async ({ codec }, n) => {
      if (n % 10 > 0) return codec('/decode', { body: EMPTY });
      const beganMs = performance.now();
      await codec('/decode', { body: { payloads: [{}] } });
      return void othersMs.push(performance.now() - beganMs);
    },
    ...{ atOnce: 2, answers: [413, undefined] },
    told: (times) => {
      expect.soft(times.get(413)).toBeGreaterThan(100);
      expect.soft(Math.max(...othersMs)).toBeLessThan(1_000);
      return `other questions within ${Math.round(Math.max(...othersMs))} ms`;
    },
  };
}

const junkTokens = (): Attack => ({
  send: ({ api }, n) => {
    if (n % 2 > 0) return api(n % 4 > 1 ? '/openapi.json' : '/docs');
    return api(`/v1/orders?cursor=${cursorOf(randomBytes(64), orderQuery({}))}`, { key: 'reader' });
  },
  ...{ perSecond: 120, answers: [200, 422, 429] },
  told: (times, waiting) => {
    expect.soft(times.get(422)).toBeGreaterThan(100);
    expect.soft(waiting).toBeLessThanOrEqual(105);
    return '';
  },
});

const reads = ({ sandbox }: BatchLab): Attack => ({
  env: { PAYMENT_REQUESTS_PER_SECOND: '10' },
  send: ({ api }, n) => api(n % 2 > 0 ? '/v1/balances' : '/v1/rates', { key: 'reader' }),
  ...{ perSecond: 60, answers: [200, 429, 503] },
  told: (times) => {
    expect.soft(times.get(429)).toBeGreaterThan(0);
    return `at most ${sandbox.requestRate(5_000).busiest} requests in 5 s`;
  },
});

/** Attacks by what their neighbour does. */
export const ATTACKS: readonly (readonly [string, (lab: BatchLab) => Attack | Promise<Attack>])[] = [
  ['silent name servers of 32 receivers', silentNames],
  ['20 pages at once of 30 MB of rows', largePages],
  ['unfinished parts of uploads', unfinishedParts],
  ['50 starts a second that wait for 60 s', waits],
  ['foreign runs of the stop, encryption on', foreignStop('on')],
  ['foreign runs of the stop, encryption required', foreignStop('required')],
  ['bodies of 349,525 empty payloads', emptyPayloads],
  ['junk page tokens and documents, 120 a second', junkTokens],
  ['60 reads a second at a limit of 10', reads],
];
