import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { TrafficLine } from '../../sandbox/index.js';
import { DEFAULT_ACCOUNT, orderWorkflowId } from '../../src/contract/names.js';
import { NoWorkerError } from '../../src/index.js';
import type { Load } from '../load.js';
import type { ChaosStack } from '../stack.js';
import type { Evidence, FollowedOrder, Leak } from './evidence.js';
import { followedOrder } from './followed.js';
import { SecretScanner } from './secrets.js';

/** Histories read at once. */
const CONCURRENCY = 8;
/** Most orders of one run, follow-ups included. */
const MAX_ORDERS = 10_000;

/** Gathers everything the oracle judges. Temporal and the sandbox must be up; nothing is changed. */
export async function collectEvidence(
  stack: ChaosStack,
  load: Load,
  ledgerAtStart: Readonly<Record<string, string>>,
): Promise<Evidence> {
  const [service, ledgerAtEnd, traffic] = [
    await stack.service.orders(),
    await stack.service.ledger(),
    await readTraffic(stack.trafficFiles),
  ];
  const listed = await stack.orders.list({ limit: MAX_ORDERS });
  const orderIds = new Set([
    ...load.accepted,
    ...service.map(({ order }) => order.user_order_id),
    ...listed.map(({ orderId }) => orderId),
  ]);
  const scanner = new SecretScanner(
    stack.secrets,
    orderIds,
    service.map(({ order }) => order.order_uuid),
  );
  const { followed, leaks } = await readHistories(stack, [...orderIds], scanner);
  for (const file of stack.logFiles) leaks.push(...(await scanner.leaksOfFile(file, 'log')));
  // The write-ahead log is part of the database.
  for (const file of [stack.dbFile, `${stack.dbFile}-wal`].filter(existsSync))
    leaks.push(...(await scanner.leaksOfFile(file, 'database')));
  return {
    accepted: load.accepted,
    followed,
    service,
    ledger: { start: ledgerAtStart, end: ledgerAtEnd },
    requests: traffic.flatMap((line) => (line.kind === 'request' ? [line] : [])),
    callbacks: traffic.flatMap((line) => (line.kind === 'callback' ? [line] : [])),
    leaks,
    wronglyAccepted: load.forged.wronglyAccepted,
  };
}

/** What all accounts saw, oldest first. */
async function readTraffic(files: readonly string[]): Promise<TrafficLine[]> {
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  const lines = texts.flatMap((text) => text.split('\n').filter(Boolean));
  return lines.map((line): TrafficLine => JSON.parse(line)).sort((a, b) => timeOf(a) - timeOf(b));
}

const timeOf = (line: TrafficLine): number => (line.kind === 'request' ? line.atMs : line.sentAtMs);

async function readHistories(
  stack: ChaosStack,
  orderIds: string[],
  scanner: SecretScanner,
): Promise<{ followed: Map<string, FollowedOrder>; leaks: Leak[] }> {
  const followed = new Map<string, FollowedOrder>();
  const leaks: Leak[] = [];
  const waiting = [...orderIds];
  const reader = async () => {
    for (let orderId = waiting.pop(); orderId !== undefined; orderId = waiting.pop()) {
      const read = await readOne(stack, orderId, scanner);
      if (!read) continue;
      followed.set(orderId, read.order);
      leaks.push(...read.leaks);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, reader));
  return { followed, leaks };
}

/** Undefined when Temporal has no workflow of that order. */
async function readOne(stack: ChaosStack, orderId: string, scanner: SecretScanner) {
  const workflowId = orderWorkflowId(DEFAULT_ACCOUNT, orderId);
  try {
    const history = await stack.client.workflow.getHandle(workflowId).fetchHistory();
    const order = followedOrder(orderId, history);
    const leaks = scanner.leaksOf(workflowId, history);
    return { order: order.end === 'open' ? { ...order, parkedFor: await parkedFor(stack, orderId) } : order, leaks };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

/** Why an open order waits for a person; undefined when it does not, or does not even answer. */
async function parkedFor(stack: ChaosStack, orderId: string): Promise<string | undefined> {
  try {
    const { phase, attention } = await stack.orders.order(orderId).state();
    return phase === 'parked' ? (attention?.reason ?? 'no reason') : undefined;
  } catch (error) {
    // A workflow that fails its task again and again answers no query.
    if (error instanceof NoWorkerError) return undefined;
    throw error;
  }
}
