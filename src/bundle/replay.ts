import proto from '@temporalio/proto';
import {
  DefaultLogger,
  makeTelemetryFilterString,
  type ReplayWorkerOptions,
  Runtime,
  Worker,
} from '@temporalio/worker';
import type { Encryption } from '../config.js';
import { encryptionMode, workerConverter, workflowCode } from './bundle.js';

type History = proto.temporal.api.history.v1.IHistory;

const { VERSIONING_BEHAVIOR_PINNED } = proto.temporal.api.enums.v1.VersioningBehavior;

/** A history as the server hands it out, or as Temporal's tools write it into a file. */
export interface SourceHistory {
  workflowId: string;
  history: History;
}

/** What became of one history. */
export interface Replayed {
  workflowId: string;
  runId: string;
  type: string;
  /** `pinned`: it stays with the version it began on; `notBegun`: no worker has answered for it yet. Neither is replayed. */
  outcome: 'compatible' | 'incompatible' | 'pinned' | 'notBegun';
  /** Why this version cannot go on with it. */
  reason?: string;
}

const described = ({ workflowId, history }: SourceHistory): Omit<Replayed, 'outcome'> => {
  const started = history.events?.[0]?.workflowExecutionStartedEventAttributes;
  return {
    workflowId: started?.workflowId || workflowId,
    runId: started?.originalExecutionRunId ?? '',
    type: started?.workflowType?.name ?? '',
  };
};

/** Why a history needs no replay; undefined for one that this version may have to go on with. */
function leftOut({ history }: SourceHistory): 'pinned' | 'notBegun' | undefined {
  const answered = (history.events ?? []).flatMap((event) => event.workflowTaskCompletedEventAttributes ?? []);
  if (answered.at(-1)?.versioningBehavior === VERSIONING_BEHAVIOR_PINNED) return 'pinned';
  return answered.length === 0 ? 'notBegun' : undefined;
}

/**
 * Replays histories one after the other with the workflows of this version, as its workers would go on with them. `namespace`: where
 * they are from, to which their payloads are bound. Sends nothing anywhere. The SDK's own log is silent: the answers say it all.
 */
export async function* replayHistories(
  histories: AsyncIterable<SourceHistory>,
  { encryption, namespace }: { encryption: Encryption; namespace: string },
): AsyncGenerator<Replayed> {
  // Without `forward` the SDK's core writes its lines to stdout, between those of the answer.
  const telemetryOptions = { logging: { filter: makeTelemetryFilterString({ core: 'ERROR' }), forward: {} } };
  Runtime.install({ logger: new DefaultLogger('ERROR', () => undefined), telemetryOptions });
  const options: ReplayWorkerOptions & { namespace: string } = {
    ...(await workflowCode(encryptionMode(encryption))),
    dataConverter: workerConverter(encryption),
    namespace,
  };
  let current: SourceHistory | undefined;
  const skipped: Replayed[] = [];
  async function* toReplay(): AsyncGenerator<SourceHistory> {
    for await (const source of histories) {
      const outcome = leftOut(source);
      if (outcome) skipped.push({ ...described(source), outcome });
      else {
        current = source;
        yield { ...source, workflowId: described(source).workflowId };
      }
    }
  }
  for await (const { error } of Worker.runReplayHistories(options, toReplay())) {
    yield* skipped.splice(0);
    if (!current) continue;
    const outcome = error ? 'incompatible' : 'compatible';
    yield { ...described(current), outcome, ...(error && { reason: error.message }) };
  }
  yield* skipped;
}
