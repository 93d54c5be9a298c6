import { once } from 'node:events';
import { createServer } from 'node:net';
import { Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Collector, startCollector } from '../../scripts/trace/collector.js';
import { orderWorkflowId } from '../../src/contract/names.js';
import { spanIn } from '../../src/contract/trace.js';
import { traceOptions } from '../../src/worker/traced.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId } from '../support/lab.js';
import { quietWorkers, workflowBundle } from '../support/temporal.js';
import { endProcesses } from '../worker/process.fixture.js';
import { type Installation, starter, startInstallation, tracedBy } from './traces.fixture.js';

const WAIT = ['order', 'start', 'withdraw', '-', '--wait'];

let collector: Collector;
let installation: Installation;
beforeAll(async () => {
  quietWorkers();
  collector = await startCollector();
  installation = await startInstallation();
});
afterAll(async () => {
  await endProcesses();
  await collector?.close();
  await installation?.temporal.close();
});

const historyOf = (orderId: string) =>
  installation.temporal.client.workflow.getHandle(orderWorkflowId('default', orderId)).fetchHistory();

type History = Awaited<ReturnType<typeof historyOf>>;

/** Headers that a history holds, of the start, the activities and the signals. */
const headersIn = (history: History) =>
  (history.events ?? []).flatMap(
    ({
      workflowExecutionStartedEventAttributes: start,
      activityTaskScheduledEventAttributes: activity,
      workflowExecutionSignaledEventAttributes: signal,
    }) =>
      [start, activity, signal].flatMap((attributes) => (attributes?.header?.fields ? [attributes.header.fields] : [])),
  );

/** Why a worker that is traced, or is not, cannot go on with a history; undefined: it can. */
async function replayError(workflowId: string, history: History, isTraced: boolean): Promise<unknown> {
  const { sinks, before } = await traceOptions(isTraced);
  const options = { workflowBundle: workflowBundle(), sinks, interceptors: { activity: before } };
  for await (const { error } of Worker.runReplayHistories(options, [{ workflowId, history }])) return error;
}

test('where nothing is traced a history holds no header and no more bytes, and nothing is sent', async () => {
  const orderId = newOrderId('untraced');
  const { code, stderr } = await starter(installation.env, WAIT, orderInput('withdraw', orderId));
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  expect(headersIn(await historyOf(orderId)).flatMap(Object.keys)).toEqual([]);
  const { historySize } = await installation.temporal.client.workflow.getHandle(`order:default:${orderId}`).describe();
  expect(historySize).toBeLessThanOrEqual(6_700);
});

describe('an order that was started traced', () => {
  const orderId = newOrderId('half-traced');
  let history: History;
  beforeAll(async () => {
    // Kept waiting until a worker that makes spans goes on with what one that makes none began.
    const input = orderInput('withdraw', orderId, { marker: 'after_ms=4000' });
    const started = starter({ ...installation.env, ...tracedBy(collector) }, WAIT, input);
    await vi.waitFor(async () => {
      const types = (await historyOf(orderId)).events?.flatMap(
        (event) => event.activityTaskCompletedEventAttributes ?? [],
      );
      expect(types?.length).toBeGreaterThan(0);
    }, 60_000);
    await installation.startWorker(tracedBy(collector));
    expect((await started).code).toBe(0);
    await installation.stop();
    history = await historyOf(orderId);
  });

  test('hands its trace on to its activities, whether its workers make spans or not', () => {
    // The receiver of this installation is not traced: its signal has an empty header.
    const handedOn = headersIn(history).filter((fields) => Object.keys(fields).length > 0);
    expect(handedOn.length).toBe(headersIn(history).length - 1);
    const traces = handedOn.map((fields) => spanIn(fields)?.traceId);
    expect(traces.length).toBeGreaterThanOrEqual(3);
    expect(new Set(traces).size).toBe(1);
  });

  test('is replayed by workers with and without traces', async () => {
    expect(await replayError(orderWorkflowId('default', orderId), history, false)).toBeUndefined();
    expect(await replayError(orderWorkflowId('default', orderId), history, true)).toBeUndefined();
  });

  test('as one that was not is', async () => {
    const plain = structuredClone(history);
    for (const fields of headersIn(plain)) for (const name of Object.keys(fields)) delete fields[name];
    expect(headersIn(plain).flatMap(Object.keys)).toEqual([]);
    expect(await replayError(orderWorkflowId('default', orderId), plain, true)).toBeUndefined();
    expect(await replayError(orderWorkflowId('default', orderId), plain, false)).toBeUndefined();
  });
});

describe.concurrent('a collector that does not take spans', () => {
  test.for(['down', 'hanging'])('%s: orders end as ever, programs too, and it is told', async (kind) => {
    const hanging = await startCollector({ hangs: true });
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as { port: number };
    closed.close();
    const traced = tracedBy(kind === 'hanging' ? hanging : { url: `http://127.0.0.1:${port}` });
    const own = await startInstallation(traced, { METRICS_ADDRESS: '127.0.0.1:0' });
    const input = () => orderInput('withdraw', newOrderId(kind));
    const plain = await starter(own.env, WAIT, input());
    const late = await starter({ ...own.env, ...traced }, WAIT, input());
    expect([plain.code, late.code]).toEqual([0, 0]);
    // 2 s for the collector, and what a busy machine makes of the rest.
    expect(late.tookMs - plain.tookMs).toBeLessThan(8_000);
    expect(late.stderr).toContain('warning: spans were lost');
    const fromMs = performance.now();
    expect(await own.stop()).toEqual([0, 0]);
    expect(performance.now() - fromMs).toBeLessThan(15_000);
    await hanging.close();
    await own.temporal.close();
  });
});
