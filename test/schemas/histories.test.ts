import { expect, test } from 'vitest';
import { type RecordedHistory, readHistories, workflowTypeIn } from '../../scripts/replay/files.js';
import { WORKFLOWS, type WorkflowTypes } from '../../scripts/schemas/wire-types.js';
import type { OutgoingEvent } from '../../src/contract/events.js';
import { INTERNAL_OPTIONS } from '../../src/contract/order/input-and-result.js';
import { isOrderType } from '../../src/contract/order/types.js';
import { misfit } from './ajv.fixture.js';

/** Workflows that take garbage, and starts that end because of their input. */
const BAD_INPUT = /garbage|invalid|card-as-id|refused-and-again|wrong/;

type HistoryEvent = NonNullable<RecordedHistory['history']['events']>[number];
type Payloads = { payloads?: { data?: Uint8Array | null }[] | null } | null | undefined;

const valuesOf = (held: Payloads): unknown[] =>
  (held?.payloads ?? []).map(({ data }) => (data?.length ? JSON.parse(Buffer.from(data).toString()) : undefined));

/** One value of a history, and the schema that it must fit. */
interface Found {
  place: string;
  schema: string | undefined;
  value: unknown;
}

/** What one event holds of callers and for them. `updates`: their names by id. */
function foundIn(event: HistoryEvent, name: string, types: WorkflowTypes, updates: Map<string, string>): Found[] {
  const { workflowExecutionStartedEventAttributes: started, workflowExecutionCompletedEventAttributes: done } = event;
  const { workflowExecutionSignaledEventAttributes: signal } = event;
  const { meta, input } = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest ?? {};
  const answered = event.workflowExecutionUpdateCompletedEventAttributes;
  if (meta?.updateId) updates.set(meta.updateId, input?.name ?? '');
  const update = updates.get(answered?.meta?.updateId ?? '') ?? '';
  const args = types.updates?.[input?.name ?? '']?.arguments ?? [];
  const found: [what: string, schema: string | undefined, value: unknown][] = [
    ['input', types.input, BAD_INPUT.test(name) ? undefined : valuesOf(started?.input)[0]],
    ['result', types.result, valuesOf(done?.result)[0]],
    ['signal', types.signals?.[signal?.signalName ?? '']?.arguments[0], valuesOf(signal?.input)[0]],
    ...valuesOf(input?.args).map((value, n) => [`${input?.name}`, args[n], value] as [string, string, unknown]),
    [`answer of ${update}`, types.updates?.[update]?.answer, valuesOf(answered?.outcome?.success)[0]],
  ];
  return found.flatMap(([what, schema, value]) =>
    value === undefined ? [] : [{ place: `${name}: ${what}`, schema, value }],
  );
}

/** Everything that callers sent, and workflows returned, in the recorded histories. */
async function everything(): Promise<Found[]> {
  const histories = await readHistories();
  return histories.flatMap((recorded) => {
    const updates = new Map<string, string>();
    const types = WORKFLOWS[workflowTypeIn(recorded)] ?? {};
    return (recorded.history.events ?? []).flatMap((event) => foundIn(event, recorded.name, types, updates));
  });
}

/** Inputs that only our own code makes: follow-ups and recovered orders. */
const isInternal = ({ place, value }: Found): boolean =>
  place.endsWith(': input') && INTERNAL_OPTIONS.some((option) => Object(value)[option] !== undefined);

test('every input, message, answer and result of the recorded histories fits its schema', async () => {
  const found = (await everything()).filter((one) => !isInternal(one));
  const problems = found.flatMap(({ place, schema, value }) => {
    const problem = schema === undefined ? 'has no schema' : misfit(schema, value);
    return problem === undefined ? [] : [`${place} (${schema}): ${problem}`];
  });
  expect(problems).toEqual([]);
  const seen = new Set(found.map(({ schema = '' }) => schema));
  const inputs = Object.values(WORKFLOWS).flatMap(({ input, result }) => [input, result]);
  const rare = inputs.filter((name) => name !== undefined && !seen.has(name));
  // Our own code starts it, mostly without one.
  expect(rare).toEqual(['after-end-input']);
  expect(found.filter(({ schema }) => schema === 'decision').length).toBeGreaterThan(10);
});

test('every event of the recorded histories fits the schema of its kind', async () => {
  const events = (await everything()).flatMap(({ schema, value }) =>
    schema === 'delivery-input' ? ((value as { events?: OutgoingEvent[] }).events ?? []) : [],
  );
  const problems = events.flatMap(({ id: _, ...body }) => misfit(`event.${body.type}`, body) ?? []);
  expect(problems).toEqual([]);
  expect(new Set(events.map(({ type }) => type)).size).toBeGreaterThan(2);
  expect(events.filter(({ data }) => isOrderType(data.order_type ?? '')).length).toBeGreaterThan(5);
});
