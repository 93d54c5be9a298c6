import type { Command } from 'commander';
import type { ReplayCounts, SourceHistory } from '../bundle/replay.js';
import { loadEncryption, loadTemporalTarget } from '../config.js';
import { ORDERS_TASK_QUEUE } from '../contract/names.js';
import { maskWallets } from '../contract/wallets.js';
import { whileShowing } from './progress.js';
import { EXIT, type Report, type StarterIo, type Verbs } from './report.js';
import { table } from './text.js';

/** Maximum number of histories that are fetched ahead. */
const FETCHED_AHEAD = 4;
const SHOWN_EVERY = 100;

/**
 * Adds `replay`, which checks before a deploy whether this version can continue the open workflows.
 * Read-only.
 */
export function addReplayVerb(program: Command, { stderr }: StarterIo, verbs: Verbs): void {
  const replay = program
    .command('replay')
    .description('before a deploy: can this version continue every open workflow? Reads only; exit 1 where it cannot');
  verbs.addLocal(replay, async (connect) => {
    const { client } = await connect();
    const query = `ExecutionStatus = 'Running' AND TaskQueue = '${ORDERS_TASK_QUEUE}'`;
    const open = client.workflow.list({ query }).intoHistories({ concurrency: FETCHED_AHEAD });
    // Loaded only here: it is a large part of a worker.
    const { replayHistories } = await import('../bundle/replay.js');
    const from = { encryption: loadEncryption(), namespace: loadTemporalTarget().namespace };
    const counts = await whileShowing(stderr, 'bundling the workflows', (show) =>
      replayHistories(open as AsyncIterable<SourceHistory>, from, ({ histories, incompatible }) => {
        if (histories % SHOWN_EVERY === 0) show(`${histories} histories read, ${incompatible.length} incompatible`);
      }),
    );
    return reportOf(counts, client.options.namespace);
  });
}

const shownReason = (reason: string): string => maskWallets(reason.split('\n')[0] ?? '').slice(0, 500);

/** Maximum number of printed lines. `--json` has all. */
const SHOWN = 50;

function reportOf({ incompatible: found, ...counts }: ReplayCounts, namespace: string): Report {
  const incompatible = found.map((one) => ({ ...one, reason: shownReason(one.reason) }));
  const rows = incompatible
    .slice(0, SHOWN)
    .map(({ workflowId, type, reason }) => [maskWallets(workflowId), type, reason]);
  const more = incompatible.length > SHOWN ? [`and ${incompatible.length - SHOWN} more: --json has them all`] : [];
  const text = [
    ...(rows.length > 0 ? [table([['workflow id', 'type', 'reason'], ...rows]), ...more] : []),
    `${counts.histories} histories of namespace ${namespace}: this version can continue ${counts.compatible} and cannot continue ${incompatible.length}; ` +
      `${counts.pinned} stay with their version, ${counts.notBegun} have not begun`,
    incompatible.length > 0
      ? 'DO NOT DEPLOY: their workflow tasks would fail until a version is back that can continue them'
      : 'no history that was read contradicts this version',
  ];
  return {
    exitCode: incompatible.length > 0 ? EXIT.endedWithoutSuccess : EXIT.done,
    json: { ...counts, incompatible },
    text: text.join('\n'),
  };
}
