import { createRequire } from 'node:module';
import proto from '@temporalio/proto';
import type { SourceHistory } from './replay.js';

const require = createRequire(import.meta.url);
// The SDK's own historyFromJSON fails wherever npm installs protobufjs more than once: the copy that reads must be the copy of the types.
const { patchProtobufRoot } = require('@temporalio/proto/lib/patch-protobuf-root.js');
const { fromJson } = createRequire(require.resolve('@temporalio/proto'))('protobufjs/ext/protojson');
const historyType = patchProtobufRoot(proto).lookupType('temporal.api.history.v1.History');

/** The history in what `temporal workflow show --output json` printed, parsed; undefined where it is none. */
export function exportedHistory(parsed: unknown): SourceHistory['history'] | undefined {
  try {
    const history: SourceHistory['history'] = fromJson(historyType, parsed, { ignoreUnknownFields: true });
    return history.events?.[0]?.workflowExecutionStartedEventAttributes ? history : undefined;
  } catch {
    return undefined;
  }
}
