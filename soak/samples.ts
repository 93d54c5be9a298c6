import { appendFile, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import proto from '@temporalio/proto';
import { countOrders, ORDER_TYPES_QUERY } from '../chaos/operator.js';
import type { ChaosStack } from '../chaos/stack.js';
import type { Supervised } from '../chaos/supervised.js';
import { createTaskQueue, DEFAULT_ACCOUNT, lookupTaskQueue, ORDERS_TASK_QUEUE } from '../src/contract/names.js';

const { TASK_QUEUE_TYPE_WORKFLOW, TASK_QUEUE_TYPE_ACTIVITY } = proto.temporal.api.enums.v1.TaskQueueType;
/** Visibility shows an end this late at most. */
const VISIBLE_AFTER_MS = 5_000;
/** Ended orders of a sample at most. */
const MAX_ENDED = 1_000;

/** State of a run at one time. Figures that Temporal could not give then are absent. */
export interface Sample {
  atMs: number;
  /** Resident MB and open descriptors by process. */
  processes: Record<string, { memory: number; descriptors: number }>;
  databaseMb: number;
  /** Open orders, and ended ones since the beginning. */
  open?: number;
  ended?: number;
  /** Tasks that wait for a worker. */
  backlog?: number;
  /** Of the orders that ended since the last sample. */
  endMs: number[];
  events: number[];
  bytes: number[];
  /** From start to the order's first answer, of those answered since the last sample. */
  answerMs: number[];
}

/** Takes samples and keeps them as NDJSON. */
export class Sampler {
  readonly samples: Sample[] = [];
  /** Times from start to first answer; emptied by each sample. */
  answered: number[] = [];
  #sinceMs = Date.now();

  constructor(
    private readonly stack: ChaosStack,
    private readonly others: readonly Supervised[],
    readonly file: string,
  ) {}

  /** Adds a sample. */
  async take(): Promise<void> {
    const { workers, receiver, sandboxes, temporal, orders } = this.stack;
    const supervised = [...workers, receiver, ...sandboxes, ...this.others];
    const pids = supervised.map(({ program, pid }): [string, number | undefined] => [program.name, pid]);
    const measured = await Promise.all(
      [...pids, ['temporal', temporal.pid] as const, ['soak', process.pid] as const].map(async ([name, pid]) => {
        const figures = pid && (await figuresOf(pid).catch(() => undefined));
        return figures ? [[name, figures] as const] : [];
      }),
    );
    const answerMs = this.answered.splice(0);
    const shown = await this.#shown().catch(() => ({ endMs: [], events: [], bytes: [] }));
    const sample: Sample = {
      ...{ atMs: Date.now(), processes: Object.fromEntries(measured.flat()), answerMs, ...shown },
      databaseMb: (await this.#databaseBytes()) / 2 ** 20,
      open: await countOrders(orders, 'open').catch(() => undefined),
      ended: await countOrders(orders, 'closed').catch(() => undefined),
      backlog: await this.#backlog().catch(() => undefined),
    };
    this.samples.push(sample);
    await this.write(sample);
  }

  /** Adds a line of another kind. */
  write(line: object): Promise<void> {
    return appendFile(this.file, `${JSON.stringify(line)}\n`);
  }

  /** Reads the orders that ended since the last sample that could. */
  async #shown(): Promise<Pick<Sample, 'endMs' | 'events' | 'bytes'>> {
    const untilMs = Date.now() - VISIBLE_AFTER_MS;
    const [from, to] = [this.#sinceMs, untilMs].map((ms) => new Date(ms).toISOString());
    const query = `${ORDER_TYPES_QUERY} AND CloseTime >= '${from}' AND CloseTime < '${to}'`;
    const found: Pick<Sample, 'endMs' | 'events' | 'bytes'> = { endMs: [], events: [], bytes: [] };
    for await (const run of this.stack.client.workflow.list({ query, pageSize: MAX_ENDED })) {
      if (run.closeTime) found.endMs.push(run.closeTime.getTime() - run.startTime.getTime());
      found.events.push(run.historyLength);
      found.bytes.push(run.historySize ?? 0);
    }
    this.#sinceMs = untilMs;
    return found;
  }

  async #backlog(): Promise<number> {
    const { client } = this.stack;
    const queues = [
      [ORDERS_TASK_QUEUE, TASK_QUEUE_TYPE_WORKFLOW] as const,
      ...[createTaskQueue(DEFAULT_ACCOUNT), lookupTaskQueue(DEFAULT_ACCOUNT)].map(
        (name) => [name, TASK_QUEUE_TYPE_ACTIVITY] as const,
      ),
    ];
    const counts = queues.map(async ([name, taskQueueType]) => {
      const { namespace } = client.options;
      const request = { namespace, taskQueue: { name }, taskQueueType, reportStats: true };
      const { stats } = await client.workflowService.describeTaskQueue(request);
      return Number(stats?.approximateBacklogCount ?? 0);
    });
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  }

  /** Bytes of SQLite's files, or of PostgreSQL's tables without its log of changes. */
  async #databaseBytes(): Promise<number> {
    const { folder, dbFile } = this.stack;
    const base = join(folder, 'postgres', 'data', 'base');
    const names = await readdir(base, { recursive: true }).catch(() => undefined);
    const files = names?.map((name) => join(base, name)) ?? [dbFile, `${dbFile}-wal`];
    const sizes = await Promise.all(
      files.map((file) =>
        stat(file).then(
          (one) => (one.isFile() ? one.size : 0),
          () => 0,
        ),
      ),
    );
    return sizes.reduce((sum, size) => sum + size, 0);
  }
}

async function figuresOf(pid: number): Promise<{ memory: number; descriptors: number }> {
  const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? [];
  const descriptors = (await readdir(`/proc/${pid}/fd`)).length;
  return { memory: Number(kilobytes) / 1_024, descriptors };
}
