import { describe, expect, test, vi } from 'vitest';
import type { OrderHandle } from '../../src/client/order-handle.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId, useLab } from '../support/lab.js';
import { decideNow } from '../workflows/compensation/parked-orders.fixture.js';
import { serviceView } from '../workflows/create/service-view.fixture.js';
import { type Run, resetTo, resettableEvents, resultOf, runOf, terminate } from './reset.fixture.js';

// The orders wait most of the time, and not for each other.
vi.setConfig({ maxConcurrency: 20 });

/** Longer than the service ever takes to show an order here (3 s), as the settle window has to be. */
const SETTLE_WINDOW_MS = 6_000;

/** A run cut from one that may have a create on its way counts absence only after that one's 60 s. */
const TEST_LIMIT_MS = 150_000;

const lab = useLab({ pace: { settleWindowMs: { atOnce: SETTLE_WINDOW_MS, deposit: SETTLE_WINDOW_MS } } });

/** Starts a payment whose every create would be executed, whether its id is used already or not. */
const start = (label: string, marker: string): Promise<OrderHandle> => {
  const input = orderInput('withdraw', newOrderId(label), { marker: `duplicate=c ${marker}` });
  return lab.orders.start('withdraw', input);
};

const view = ({ orderId }: OrderHandle) => serviceView(lab, orderId);

/**
 * Waits until the order's run has that many resettable events and the service that many creates; answers the event, or its
 * last one for an order that has no more to come.
 */
async function waitForEvent(
  handle: OrderHandle,
  index: number,
  creates: number,
  orLast = false,
): Promise<{ run: Run; eventId: string }> {
  const run = await runOf(lab, handle);
  const eventId = await vi.waitFor(
    async () => {
      expect(view(handle).creates).toBe(creates);
      const events = await resettableEvents(lab, run);
      const found = events[index] ?? (orLast ? events.at(-1) : undefined);
      if (found === undefined) throw new Error(`the run has no resettable event ${index} yet`);
      return found;
    },
    { timeout: 30_000, interval: 50 },
  );
  return { run, eventId };
}

describe.concurrent('a finished order is reset to each of its events in turn', () => {
  test.for([
    ['created at the first attempt', '', { creates: 1, executed: 1, blindCreates: 0 }],
    ['adopted after a create without an answer', 'create=500', { creates: 1, executed: 1, blindCreates: 0 }],
    ['sent again', 'create=500-before', { creates: 2, executed: 1, blindCreates: 0 }],
  ] as const)('%s: every run ends completed, and it was executed once', async ([, marker, expected]) => {
    const handle = await start('finished', marker);
    const { order } = await handle.result();
    const first = await runOf(lab, handle);
    const events = await resettableEvents(lab, first);
    expect(events.length).toBeGreaterThanOrEqual(3);
    for (const eventId of events) {
      const run = await resetTo(lab, first, eventId);
      expect(await resultOf(lab, run)).toMatchObject({ outcome: 'completed', order });
      expect(view(handle)).toEqual(expected);
    }
  });
});

/** Decides for a run that does not know where the run before it sent, or that this one may not repeat by itself. */
async function resendWhereParked(handle: OrderHandle): Promise<void> {
  while ((await handle.state()).phase !== 'done') {
    if ((await handle.state()).phase === 'parked') await decideNow(handle, 'resend');
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

interface OpenCase {
  title: string;
  marker: string;
  /** How many of its events are reset to, each on an order of its own; `from`: the first of them. */
  events: number;
  from?: number;
  /** How many events it has depends on its pace; what lies beyond its last one means the last one. */
  orLast?: true;
  /** Creates before the reset, and at the end. */
  before: number;
  after: number;
}

const OPEN: OpenCase[] = [
  // Executed, but shown only after 3 s; the callback of its end comes after 3.5 s.
  {
    title: 'uncertain, executed unseen',
    marker: 'create=500 lag_ms=3000 after_ms=3500',
    events: 5,
    before: 1,
    after: 1,
  },
  { title: 'uncertain, not executed', marker: 'create=500-before', events: 7, from: 1, before: 1, after: 2 },
  { title: 'with its create on the way', marker: 'create=slow slow_ms=3000', events: 1, before: 1, after: 1 },
  {
    title: 'with its create on the way, executed unseen',
    marker: 'create=slow slow_ms=3000 lag_ms=3000 after_ms=3500',
    events: 1,
    before: 1,
    after: 1,
  },
  { title: 'followed', marker: 'after_ms=3000', events: 2, before: 1, after: 1 },
  // The second create is executed and answered, but not shown for 3 s.
  {
    title: 'just sent again, executed unseen',
    marker: 'create=500-before lag_ms=3000 after_ms=3500',
    events: 11,
    orLast: true,
    before: 2,
    after: 2,
  },
];

describe.concurrent('an open order is reset', { timeout: TEST_LIMIT_MS }, () => {
  const cases = OPEN.flatMap(({ events, from = 0, ...each }) =>
    Array.from({ length: events - from }, (_, n) => ({ ...each, index: from + n })),
  );

  test.for(cases)(
    '$title, to event $index: it ends completed, executed once',
    async ({ marker, index, orLast, before, after }) => {
      const handle = await start('open', marker);
      const { run, eventId } = await waitForEvent(handle, index, before, orLast);
      const cut = await resetTo(lab, run, eventId);
      const deciding = resendWhereParked(handle);
      expect(await resultOf(lab, cut)).toMatchObject({
        outcome: 'completed',
        order: { user_order_id: handle.orderId },
      });
      await deciding;
      expect(view(handle)).toEqual({ creates: after, executed: 1, blindCreates: 0 });
    },
  );

  test('uncertain and not executed, to its start: nothing is sent while the old create may be on its way', async () => {
    const handle = await start('open', 'create=500-before');
    const { run, eventId } = await waitForEvent(handle, 0, 1);
    const before = lab.requestsOf(handle.orderId).length;
    const cut = await resetTo(lab, run, eventId);
    const sinceReset = ['/v2/order/list', '/v2/order/list', '/v2/order/status'];
    await vi.waitFor(() => expect(lab.requestsOf(handle.orderId).slice(before)).toEqual(sinceReset), 60_000);
    // Another order is reset, settled and sent again meanwhile: this one would have been, too.
    const other = await start('open', 'create=500-before');
    await other.result();
    expect(await handle.state()).toMatchObject({ phase: 'uncertain' });
    expect(view(handle)).toEqual({ creates: 1, executed: 0, blindCreates: 0 });
    await terminate(lab, cut);
  });
});
