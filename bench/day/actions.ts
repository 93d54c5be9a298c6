import type proto from '@temporalio/proto';

type Event = proto.temporal.api.history.v1.IHistoryEvent;

/** Events that stand for one billed action each. */
const BILLED = [
  'workflowExecutionStartedEventAttributes',
  'timerStartedEventAttributes',
  'workflowExecutionSignaledEventAttributes',
  'workflowExecutionUpdateAcceptedEventAttributes',
] as const satisfies readonly (keyof Event)[];

/** An upsert of ours; the one that the SDK makes for a patch is neither billed nor of any use to us. */
function isUpsert({ upsertWorkflowSearchAttributesEventAttributes: upsert }: Event): boolean {
  const names = Object.keys(upsert?.searchAttributes?.indexedFields ?? {});
  return names.some((name) => name !== 'TemporalChangeVersion');
}

/**
 * Billed actions of a run, as Temporal Cloud counts them: each attempt of an activity is one, and so are the start, timers, signals,
 * updates and upserts. Queries and heartbeats leave no event and are not in it.
 */
export const actionsOf = (events: readonly Event[]): number =>
  events.reduce((sum, event) => {
    const attempts = event.activityTaskStartedEventAttributes?.attempt ?? 0;
    return sum + attempts + (isUpsert(event) || BILLED.some((name) => event[name]) ? 1 : 0);
  }, 0);

/** Rows that the visibility store writes for a run: at its start, its end and each upsert. */
export const visibilityWritesOf = (events: readonly Event[]): number => 2 + events.filter(isUpsert).length;
