import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { type Run, resetTo, resettableEvents, resultOf, runOf } from '../reliability/reset.fixture.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId, useLab } from '../support/lab.js';
import { serviceView } from '../workflows/create/service-view.fixture.js';
import { type Rogue, rogueAt } from './rogue.fixture.js';
import { keyOf } from './stored-bytes.fixture.js';

const lab = useLab({
  encryptionKeys: [keyOf('a')],
  encryptionRequired: true,
  pace: { settleWindowMs: { atOnce: 3_000, deposit: 3_000 } },
  sandbox: { settings: { duplicateMode: 'c' } },
});

/** The create of a run, once it is about to send and has written that down with Temporal. */
const createUnderWay = (workflowId: string) =>
  vi.waitUntil(
    async () => {
      const { raw } = await lab.temporal.client.workflow.getHandle(workflowId).describe();
      const create = (raw.pendingActivities ?? []).find(({ activityType }) => activityType?.name === 'createOrder');
      const written = create?.heartbeatDetails;
      return written?.payloads?.length ? { activityId: create?.activityId ?? '', written } : undefined;
    },
    { timeout: 90_000, interval: 20 },
  );

type Events = Awaited<ReturnType<Rogue['historyOf']>>;

/** Encrypted answers of the activities of a type, oldest first, by the ids of their activities. */
function answersIn(events: Events, type: string) {
  const scheduled = new Map(
    events.flatMap(({ eventId, activityTaskScheduledEventAttributes: asked }) =>
      asked?.activityType?.name === type ? [[String(eventId), asked.activityId ?? ''] as const] : [],
    ),
  );
  return events.flatMap(({ activityTaskCompletedEventAttributes: answered }) => {
    const activityId = scheduled.get(String(answered?.scheduledEventId));
    return activityId === undefined ? [] : [{ activityId, result: answered?.result }];
  });
}

/** Ids of the activities of a run; those scheduled before the event where one is named. */
const activityIdsIn = (events: Events, before = Number.POSITIVE_INFINITY): string[] =>
  events
    .filter(({ eventId }) => Number(eventId) < before)
    .flatMap(({ activityTaskScheduledEventAttributes: asked }) => asked?.activityId ?? []);

// Before: taken for "nothing known", so that the create was sent again at once: executed twice.
test('what a look-up of an earlier run answered is no answer of a create', async () => {
  const orderId = newOrderId('twice');
  const rogue = rogueAt(lab);
  const marker = 'slow_ms=5000 lag_ms=12000';
  const first = await lab.orders.start('withdraw', orderInput('withdraw', orderId, { marker: `create=400 ${marker}` }));
  await expect(first.result()).rejects.toMatchObject({ type: 'OrderRejected' });
  const { workflowId } = first;
  const earlier = answersIn(await rogue.historyOf(workflowId), 'lookUpOrder');
  await sleep(4_000);
  lab.sandbox.set({ faults: { 'create.slow': 1 } });
  const input = orderInput('withdraw', orderId, { marker: `create=slow times=9 ${marker}` });
  const handle = await lab.orders.start('withdraw', input, { again: true });
  const { activityId } = await createUnderWay(workflowId);
  await sleep(700);
  await rogue.answerById(workflowId, activityId, earlier[0]?.result);
  expect(await handle.result({ timeoutMs: 60_000 })).toMatchObject({ outcome: 'completed' });
  expect(serviceView(lab, orderId).executed).toBe(1);
});

test('nor is what the create itself wrote down before it sent', async () => {
  const rogue = rogueAt(lab);
  const input = orderInput('withdraw', newOrderId('heard'), { marker: 'create=slow slow_ms=5000 lag_ms=12000' });
  const handle = await lab.orders.start('withdraw', input);
  const { activityId, written } = await createUnderWay(handle.workflowId);
  await rogue.answerById(handle.workflowId, activityId, written);
  expect(await handle.result({ timeoutMs: 60_000 })).toMatchObject({ outcome: 'completed' });
  expect(serviceView(lab, handle.orderId).executed).toBe(1);
});

// Before: reported as refused (OrderRejected), while the service paid it.
test('that a create of an earlier run was refused is not said of the create of a later one', async () => {
  const orderId = newOrderId('refused');
  const rogue = rogueAt(lab);
  const input = orderInput('withdraw', orderId, { marker: 'create=400 times=1 slow_ms=5000 lag_ms=12000' });
  const first = await lab.orders.start('withdraw', input);
  await expect(first.result()).rejects.toMatchObject({ type: 'OrderRejected' });
  const { workflowId } = first;
  const earlier = await rogue.historyOf(workflowId);
  lab.sandbox.set({ faults: { 'create.slow': 1 } });
  await rogue.startAgain(workflowId, earlier);
  const { activityId } = await createUnderWay(workflowId);
  const [refused] = answersIn(earlier, 'createOrder');
  await rogue.answerById(workflowId, activityId, refused?.result);
  const { outcome } = await lab.orders.order(orderId).result({ timeoutMs: 60_000 });
  expect(outcome).toBe('completed');
  expect(serviceView(lab, orderId).executed).toBe(1);
  expect(activityIdsIn(earlier)).not.toContain(activityId);
});

test('a run that was cut from another by a reset has the activities that it kept, and asks anew under ids of its own', async () => {
  const handle = await lab.orders.start('withdraw', orderInput('withdraw', newOrderId('reset')));
  await handle.result();
  const asked = new Set<string>();
  /** Resets a run to the end of one of its workflow tasks; answers the run that this makes, once it has ended. */
  const cut = async (run: Run, at: number): Promise<Run> => {
    const eventId = (await resettableEvents(lab, run)).at(at) ?? '';
    const next = await resetTo(lab, run, eventId);
    await resultOf(lab, next);
    const [events, cutEvents] = await Promise.all([run, next].map(({ runId }) => historyOf(runId)));
    const kept = activityIdsIn(events ?? [], Number(eventId));
    const ids = activityIdsIn(cutEvents ?? []);
    expect(ids.slice(0, kept.length)).toEqual(kept);
    for (const id of ids.slice(kept.length)) {
      expect(asked).not.toContain(id);
      asked.add(id);
    }
    return next;
  };
  const historyOf = (runId: string) => rogueAt(lab).historyOf(handle.workflowId, runId);
  const first = await runOf(lab, handle);
  for (const id of activityIdsIn(await historyOf(first.runId))) asked.add(id);
  const before = asked.size;
  await cut(first, 0);
  await cut(first, 0);
  const later = await cut(first, -2);
  expect(asked.size).toBeGreaterThan(before + 2);
  // What it keeps was drawn before and after the reset that made it.
  await cut(later, -1);
});
