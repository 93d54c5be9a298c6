import type { Client } from '@temporalio/client';
import type { Command } from 'commander';
import type { Replayed, SourceHistory } from '../bundle/replay.js';
import { loadEncryption, loadTemporalTarget } from '../config.js';
import { ORDERS_TASK_QUEUE } from '../contract/names.js';
import { maskWallets } from '../contract/wallets.js';
import { parseWhole } from './arguments.js';
import { whileShowing } from './progress.js';
import { EXIT, type Report, type StarterIo, type Verbs } from './report.js';
import { table } from './text.js';

/** Adds `replay`, which shows before a deploy whether this version can continue what is open. It only reads. */
export function addReplayVerb(program: Command, io: StarterIo, verbs: Verbs): void {
  const replay = program
    .command('replay')
    .description('before a deploy: can this version continue every open workflow? Reads only; exit 1 where it cannot')
    .option('--limit <n>', 'at most this many, newest first', parseWhole(1));
  verbs.addLocal(replay, async (connect, { limit }: { limit?: number }) => {
    const { client } = await connect();
    const counts = await replayed(io, openHistories(client), limit);
    const isPart = totalOf(counts) === limit;
    return reportOf(counts, isPart ? 'of a part of what is open' : `of namespace ${client.options.namespace}`);
  });
}

/** Histories that are fetched ahead of the one that is replayed: so many are in memory at most. */
const FETCHED_AHEAD = 4;

function openHistories(client: Client): AsyncIterable<SourceHistory> {
  const query = `ExecutionStatus = 'Running' AND TaskQueue = '${ORDERS_TASK_QUEUE}'`;
  return client.workflow.list({ query }).intoHistories({ concurrency: FETCHED_AHEAD }) as AsyncIterable<SourceHistory>;
}

interface Counts {
  compatible: number;
  pinned: number;
  notBegun: number;
  incompatible: Replayed[];
}

const SHOWN_EVERY = 100;

/** Replays histories. It stores only incompatible ones: namespaces hold more than fits into memory. */
async function replayed(io: StarterIo, histories: AsyncIterable<SourceHistory>, limit = Infinity): Promise<Counts> {
  const counts: Counts = { compatible: 0, pinned: 0, notBegun: 0, incompatible: [] };
  // Loaded for this verb alone: it is what workers are made of.
  const { replayHistories } = await import('../bundle/replay.js');
  const from = { encryption: loadEncryption(), namespace: loadTemporalTarget().namespace };
  return whileShowing(io.stderr, 'bundling the workflows', async (show) => {
    for await (const one of replayHistories(first(histories, limit), from)) {
      if (one.outcome === 'incompatible') counts.incompatible.push({ ...one, reason: shownReason(one.reason) });
      else counts[one.outcome] += 1;
      const all = totalOf(counts);
      if (all % SHOWN_EVERY === 0) show(`${all} histories read, ${counts.incompatible.length} incompatible`);
    }
    return counts;
  });
}

async function* first<T>(items: AsyncIterable<T>, limit: number): AsyncGenerator<T> {
  let count = 0;
  for await (const item of items) {
    yield item;
    count += 1;
    if (count >= limit) return;
  }
}

const totalOf = ({ compatible, pinned, notBegun, incompatible }: Counts): number =>
  compatible + pinned + notBegun + incompatible.length;

const shownReason = (reason = 'unknown'): string => maskWallets(reason.split('\n')[0] ?? '').slice(0, 500);

/** Lines that are printed; `--json` has all. */
const SHOWN = 50;

/** `read`: which histories were read. */
function reportOf(counts: Counts, read: string): Report {
  const { compatible, pinned, notBegun, incompatible } = counts;
  const rows = incompatible
    .slice(0, SHOWN)
    .map(({ workflowId, type, reason = '' }) => [maskWallets(workflowId), type, reason]);
  const more = incompatible.length > SHOWN ? [`and ${incompatible.length - SHOWN} more: --json has them all`] : [];
  const text = [
    ...(rows.length > 0 ? [table([['workflow id', 'type', 'reason'], ...rows]), ...more] : []),
    `${totalOf(counts)} histories ${read}: this version can continue ${compatible} and cannot continue ${incompatible.length}; ` +
      `${pinned} stay with their version, ${notBegun} have not begun`,
    incompatible.length > 0
      ? 'DO NOT DEPLOY: their workflow tasks would fail until a version is back that can continue them'
      : 'no history that was read contradicts this version',
  ];
  return {
    exitCode: incompatible.length > 0 ? EXIT.endedWithoutSuccess : EXIT.done,
    json: { histories: totalOf(counts), ...counts },
    text: text.join('\n'),
  };
}
