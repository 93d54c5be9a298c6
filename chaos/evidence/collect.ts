import { readFile } from 'node:fs/promises';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import type { TrafficLine } from '../../sandbox/index.js';
import { DEFAULT_ACCOUNT, orderWorkflowId } from '../../src/contract/names.js';
import { NoWorkerError } from '../../src/index.js';
import type { Load } from '../load.js';
import type { ChaosStack } from '../stack.js';
import { readAudit } from './audit.js';
import type { Choice, Evidence, FollowedOrder } from './evidence.js';
import { followedOrder } from './followed.js';
import type { Planted } from './hidden.js';
import { searchEverything } from './search.js';

/** Histories read at once. */
const CONCURRENCY = 8;

/** What else a run was about: its batches, what people chose that counted, and the balances before the first order. */
interface Course {
  /** Rows that were started, and what people said of batches. */
  batched: readonly Planted[];
  choices: readonly Choice[];
  ledgerAtStart: Readonly<Record<string, string>>;
  /** Runs that a reset ended, by workflow. */
  endedRuns?: ReadonlyMap<string, readonly string[]>;
  /** Returns true for ids of orders and workflows that are searched for personal data; absent = all. */
  isSought?: (id: string) => boolean;
}

/** Gathers everything the oracle judges. Temporal and the sandbox must be up; nothing is changed. */
export async function collectEvidence(
  stack: ChaosStack,
  load: Load,
  { batched, choices, ledgerAtStart, endedRuns = new Map(), isSought = () => true }: Course,
): Promise<Evidence> {
  const [service, ledgerAtEnd, traffic] = [
    await stack.service.orders(),
    await stack.service.ledger(),
    await readTraffic(stack.trafficFiles),
  ];
  const listed = [];
  for await (const entry of stack.orders.all()) listed.push(entry);
  const orderIds = new Set([
    ...load.accepted,
    ...service.map(({ order }) => order.user_order_id),
    ...listed.map(({ orderId }) => orderId),
  ]);
  const { followed, histories } = await readHistories(stack, [...orderIds], endedRuns, isSought);
  const { leaks, searched } = await searchEverything(stack, {
    planted: [...load.planned, ...batched].filter(({ orderId }) => isSought(orderId)),
    service: service.filter(({ order }) => isSought(order.user_order_id)),
    orderIds: new Set([...orderIds].filter(isSought)),
    ...{ histories, isSought },
  });
  return {
    accepted: load.accepted,
    followed,
    service,
    ledger: { start: ledgerAtStart, end: ledgerAtEnd },
    requests: traffic.flatMap((line) => (line.kind === 'request' ? [line] : [])),
    callbacks: traffic.flatMap((line) => (line.kind === 'callback' ? [line] : [])),
    ...{ leaks, searched, choices },
    audit: await readAudit(
      stack.auditDir,
      stack.workers.map(({ program }) => program.logFile),
    ),
    sentBeforeFailover: stack.failover.sent,
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
  endedRuns: ReadonlyMap<string, readonly string[]>,
  isSought: (id: string) => boolean,
): Promise<{ followed: Map<string, FollowedOrder>; histories: Map<string, History> }> {
  const followed = new Map<string, FollowedOrder>();
  const histories = new Map<string, History>();
  const waiting = [...orderIds];
  const reader = async () => {
    for (let orderId = waiting.pop(); orderId !== undefined; orderId = waiting.pop()) {
      const read = await readOne(stack, orderId, endedRuns);
      if (!read) continue;
      followed.set(orderId, read.order);
      if (isSought(orderId)) histories.set(read.workflowId, read.history);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, reader));
  return { followed, histories };
}

/** Undefined when Temporal has no workflow of that order. */
async function readOne(stack: ChaosStack, orderId: string, endedRuns: ReadonlyMap<string, readonly string[]>) {
  const workflowId = orderWorkflowId(DEFAULT_ACCOUNT, orderId);
  const follow = async (runId?: string) => {
    const history = await stack.client.workflow.getHandle(workflowId, runId).fetchHistory();
    return { history, order: await followedOrder(orderId, history, stack.codec) };
  };
  try {
    const { history, order } = await follow();
    const parked = order.end === 'open' ? { parkedFor: await parkedFor(stack, orderId) } : {};
    // A reset gives a signal of the run before the time of the reset.
    const before = await Promise.all((endedRuns.get(workflowId) ?? []).map(follow));
    const signalsAtMs = [...before.flatMap((run) => run.order.signalsAtMs), ...order.signalsAtMs];
    return { workflowId, history, order: { ...order, ...parked, signalsAtMs } };
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
