import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { Replayed, SourceHistory } from '../bundle/replay.js';
import type { PaymentOrders } from '../client.js';
import { loadEncryption, loadTemporalTarget } from '../config.js';
import { ORDERS_TASK_QUEUE, quoted, searchAttribute } from '../contract/names.js';
import { maskWallets } from '../contract/wallets.js';
import { parseAccount, parseWhole, parseWorkflowType } from './arguments.js';
import { whileShowing } from './progress.js';
import { EXIT, type Report, type StarterIo, UsageError, type Verbs } from './report.js';
import { table } from './text.js';

interface ReplayOptions {
  open?: true;
  account?: string;
  type?: string;
  limit?: number;
}

/** Adds `replay`, which shows before a deploy whether this version can go on with what is open. It only reads. */
export function addReplayVerb(program: Command, io: StarterIo, verbs: Verbs): void {
  const replay = program
    .command('replay')
    .description('before a deploy: can this version go on with what is open? Reads only; 1 where it cannot')
    .argument('[path...]', 'histories as files of `temporal workflow show --output json`, or folders of them')
    .option('--open', 'instead of files: every open workflow of the namespace')
    .option('--account <name>', 'with --open: only those of this service account', parseAccount)
    .option('--type <name>', 'with --open: only this workflow type, such as withdraw', parseWorkflowType)
    .option('--limit <n>', 'at most this many, newest first', parseWhole(1));
  verbs.addLocal(replay, async (paths: string[], options: ReplayOptions) => {
    if (options.open && paths.length > 0) throw new UsageError('either --open or files, not both');
    if (!options.open && paths.length === 0) throw new UsageError('name files or folders of histories, or say --open');
    if (!options.open) return reportOf(await replayed(io, options, exportedHistories(paths)));
    const orders = await io.connect();
    try {
      const counts = await replayed(io, options, openHistories(orders, options));
      const isPart = options.account !== undefined || options.type !== undefined || totalOf(counts) === options.limit;
      if (isPart && totalOf(counts) === 0)
        throw new UsageError('no open workflow fits: nothing was read, and nothing is known');
      return reportOf(counts, isPart ? 'of a part of what is open' : `of namespace ${orders.client.options.namespace}`);
    } finally {
      await orders.close();
    }
  });
}

/** Histories that are fetched ahead of the one that is replayed: so many are in memory at most. */
const FETCHED_AHEAD = 4;

function openHistories({ client }: PaymentOrders, { account, type }: ReplayOptions): AsyncIterable<SourceHistory> {
  const query = [
    `ExecutionStatus = 'Running'`,
    `TaskQueue = '${ORDERS_TASK_QUEUE}'`,
    ...(account ? [`${searchAttribute.account.name} = ${quoted(account)}`] : []),
    ...(type ? [`WorkflowType = '${type}'`] : []),
  ].join(' AND ');
  return client.workflow.list({ query }).intoHistories({ concurrency: FETCHED_AHEAD }) as AsyncIterable<SourceHistory>;
}

async function* exportedHistories(paths: readonly string[]): AsyncGenerator<SourceHistory> {
  const files = (await Promise.all(paths.map(filesOf))).flat();
  if (files.length === 0) throw new UsageError('there is no .json file in that folder');
  for (const file of files) yield { workflowId: file, history: await readHistory(file) };
}

async function filesOf(path: string): Promise<string[]> {
  const found = await stat(path).catch(() => undefined);
  if (!found) throw new UsageError(`no such file or folder: ${path}`);
  if (!found.isDirectory()) return [path];
  const names = await readdir(path);
  return names
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => join(path, name));
}

async function readHistory(file: string): Promise<SourceHistory['history']> {
  const parsed: unknown = await readFile(file, 'utf8')
    .then((text) => JSON.parse(text))
    .catch(() => undefined);
  const { exportedHistory } = await import('../bundle/exported-history.js');
  const history = exportedHistory(parsed);
  if (!history) throw new UsageError(`${file} is no history: export it by temporal workflow show --output json`);
  return history;
}

interface Counts {
  compatible: number;
  pinned: number;
  notBegun: number;
  incompatible: Replayed[];
}

/** Only what cannot go on is kept: namespaces hold more than fits into memory. */
async function replayed(
  io: StarterIo,
  { limit }: ReplayOptions,
  histories: AsyncIterable<SourceHistory>,
): Promise<Counts> {
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

const SHOWN_EVERY = 100;

async function* first<T>(items: AsyncIterable<T>, limit = Number.POSITIVE_INFINITY): AsyncGenerator<T> {
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

/** `read`: what was looked at. */
function reportOf(counts: Counts, read = 'of the files'): Report {
  const { compatible, pinned, notBegun, incompatible } = counts;
  const rows = incompatible
    .slice(0, SHOWN)
    .map(({ workflowId, type, reason = '' }) => [maskWallets(workflowId), type, reason]);
  const more = incompatible.length > SHOWN ? [`and ${incompatible.length - SHOWN} more: --json has them all`] : [];
  const text = [
    ...(rows.length > 0 ? [table([['workflow id', 'type', 'reason'], ...rows]), ...more] : []),
    `${totalOf(counts)} histories ${read}: ${compatible} go on in this version, ${incompatible.length} cannot, ${pinned} stay with theirs, ${notBegun} have not begun`,
    incompatible.length > 0
      ? 'DO NOT DEPLOY: their workflow tasks would fail until a version is back that can go on with them'
      : 'nothing that was read stands against this version',
  ];
  return {
    exitCode: incompatible.length > 0 ? EXIT.endedWithoutSuccess : EXIT.done,
    json: { histories: totalOf(counts), ...counts },
    text: text.join('\n'),
  };
}
