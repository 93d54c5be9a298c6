import { tsToMs } from '@temporalio/common/lib/time.js';
import { decode, type HistoryEvent, type Payload } from './engine/wire.js';
import { allRequests } from './service.js';
import { shownTime, type World } from './world.js';

/** Most of an event that is shown. */
const WIDTH = 400;

/**
 * Lines of what happened to workflows and orders whose id has `about`, among those of the story: events of all runs, those that
 * Temporal forgot, attempts that are open, and requests at the service.
 */
export function timelineOf(world: World, about: string): string[] {
  const { engine, service, clock } = world;
  const startMs = Date.now() - clock.elapsedMs();
  const lines: { atMs: number; text: string }[] = [];
  const add = (atMs: number, text: string) => void lines.push({ atMs, text: `${shownTime(atMs - startMs)}   ${text}` });
  const eventsOf = (whose: string, events: readonly HistoryEvent[]) => {
    for (const event of events) add(tsToMs(event.eventTime), `${whose} #${event.eventId} ${wordsOf(event)}`);
  };
  const runs = [...engine.allRuns().values()].flat();
  for (const run of runs.filter(({ workflowId }) => workflowId.includes(about))) {
    const whose = `${run.workflowId} ${run.runId.slice(-6)}`;
    eventsOf(whose, run.history);
    for (const { type, attempt, lastFailure } of run.attempts.open.values())
      add(Date.now(), `${whose} still runs ${type}, attempt ${attempt}: ${lastFailure?.message ?? 'not failed'}`);
  }
  for (const { workflowId, events } of engine.forgotten.filter((one) => one.workflowId.includes(about)))
    eventsOf(`forgotten: ${workflowId}`, events);
  for (const { path, orderId = '', orderIds = [], atMs, status, fault = '' } of allRequests(service))
    if ([orderId, ...orderIds].some((id) => id.includes(about)))
      add(atMs, `POST ${path} ${orderId}: ${status} ${fault}`);
  const told = world.story.map(({ atMs, text }) => ({ atMs, text }));
  return [...lines, ...told].sort((one, other) => one.atMs - other.atMs).map(({ text }) => text);
}

/** The kind of an event and its attributes, payloads as values. */
function wordsOf(event: HistoryEvent): string {
  const [name = '', attributes] = Object.entries(event).find(([key]) => key.endsWith('EventAttributes')) ?? [];
  const values = JSON.stringify(plain(attributes));
  return `${name.replace('EventAttributes', '')} ${values.slice(0, WIDTH)}`;
}

/** Payloads as their values, at any depth: messages would show their bytes. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null || 'low' in value) return value === null ? value : String(value);
  const { metadata, data } = value as Payload;
  if (metadata?.encoding) return data?.length ? decode(value as Payload) : null;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, plain(part)]));
}
