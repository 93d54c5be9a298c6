import proto from '@temporalio/proto';
import type { RecordedHistory } from '../../scripts/replay/files.js';

const { History } = proto.temporal.api.history.v1;

/** The run that a history is said to be cut from. */
const OTHER_RUN = '00000000-0000-4000-8000-000000000000';

/** What replays need of a history, as JSON. */
interface PlainEvent {
  workflowExecutionStartedEventAttributes?: { originalExecutionRunId: string; firstExecutionRunId: string };
  workflowTaskStartedEventAttributes?: unknown;
  workflowTaskCompletedEventAttributes?: unknown;
}

/**
 * The history of a run that a reset cut from the recorded one right before its last step: the same events, of which each answer
 * names another run than its own. What the run may have done since, it does not know. Plain payloads only.
 */
export function asReset({ workflowId, history }: RecordedHistory): RecordedHistory {
  const options = { enums: String, longs: String, bytes: String };
  const events = History.toObject(History.fromObject(history), options).events as PlainEvent[];
  const started = events[0]?.workflowExecutionStartedEventAttributes;
  if (!started) throw new Error('a history begins with its start');
  const { originalExecutionRunId: runId } = started;
  const lastTask = events.findLastIndex((event) => event.workflowTaskCompletedEventAttributes);
  const kept = events.slice(0, lastTask).map((event) => JSON.parse(JSON.stringify(event, inOtherRun(runId))));
  // The id that the run is replayed under stays: the ids of its activities are drawn from it.
  kept[0].workflowExecutionStartedEventAttributes.firstExecutionRunId = OTHER_RUN;
  return { workflowId, history: History.fromObject({ events: kept }) };
}

const inOtherRun = (runId: string) => (key: string, value: unknown) =>
  key === 'data' && typeof value === 'string'
    ? Buffer.from(Buffer.from(value, 'base64').toString().replaceAll(runId, OTHER_RUN)).toString('base64')
    : value;
