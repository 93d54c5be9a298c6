import proto from '@temporalio/proto';
import { DefaultLogger, makeTelemetryFilterString, Runtime, Worker } from '@temporalio/worker';
import type { Encryption } from '../config.js';
import { encryptionMode, workerConverter, workflowCode } from './bundle.js';

const { VERSIONING_BEHAVIOR_PINNED } = proto.temporal.api.enums.v1.VersioningBehavior;

/** History as the server returns it. */
export interface SourceHistory {
  workflowId: string;
  history: proto.temporal.api.history.v1.IHistory;
}

/**
 * Results of a replay. `pinned`: stays with its version; workflows that no worker has taken are not
 * counted.
 */
export interface ReplayCounts {
  histories: number;
  compatible: number;
  pinned: number;
  notBegun: number;
  /** With the reason for each. */
  incompatible: { workflowId: string; runId: string; type: string; reason: string }[];
}

/** Returns why a history needs no replay; undefined if this version may have to continue it. */
function leftOut({ history }: SourceHistory): 'pinned' | 'notBegun' | undefined {
  const answered = (history.events ?? []).flatMap((event) => event.workflowTaskCompletedEventAttributes ?? []);
  if (answered.at(-1)?.versioningBehavior === VERSIONING_BEHAVIOR_PINNED) return 'pinned';
  return answered.length === 0 ? 'notBegun' : undefined;
}

const startedOf = ({ history }: SourceHistory) => history.events?.[0]?.workflowExecutionStartedEventAttributes;

/** Replays histories of `namespace` with this version's workflows. Sends nothing. */
export async function replayHistories(
  histories: AsyncIterable<SourceHistory>,
  { encryption, namespace }: { encryption: Encryption; namespace: string },
  onCounted: (counts: ReplayCounts) => void,
): Promise<ReplayCounts> {
  // Without `forward`, the SDK would log to stdout.
  const telemetryOptions = { logging: { filter: makeTelemetryFilterString({ core: 'ERROR' }), forward: {} } };
  Runtime.install({ logger: new DefaultLogger('ERROR', () => undefined), telemetryOptions });
  const options = {
    ...(await workflowCode(encryptionMode(encryption))),
    dataConverter: workerConverter(encryption),
    namespace,
  };
  const counts: ReplayCounts = { histories: 0, compatible: 0, pinned: 0, notBegun: 0, incompatible: [] };
  let current: SourceHistory | undefined;
  async function* toReplay(): AsyncGenerator<SourceHistory> {
    for await (const source of histories) {
      counts.histories += 1;
      const outcome = leftOut(source);
      onCounted(counts);
      if (outcome) {
        counts[outcome] += 1;
        continue;
      }
      current = source;
      yield { ...source, workflowId: startedOf(source)?.workflowId || source.workflowId };
    }
  }
  for await (const { workflowId, runId, error } of Worker.runReplayHistories(options, toReplay())) {
    const type = (current && startedOf(current)?.workflowType?.name) ?? '';
    if (error) counts.incompatible.push({ workflowId, runId, type, reason: error.message });
    else counts.compatible += 1;
  }
  return counts;
}
