import { afterAll, expect, test } from 'vitest';
import { orderWorkflowId } from '../../src/contract/names.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId } from '../support/lab.js';
import { createTestNamespace } from '../support/temporal.js';
import { startCollector } from '../worker/collector.fixture.js';
import { endProcesses, startProcess, temporalEnv } from '../worker/process.fixture.js';

afterAll(() => endProcesses());

test('the span of a start is in the trace of its run and names the request, and holds no wallet', async () => {
  const [temporal, collector] = [await createTestNamespace(), await startCollector()];
  const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '200' };
  const { ready, kill, exited } = startProcess('src/api.ts', {
    ...temporalEnv(temporal),
    ...{ API_ADDRESS: '127.0.0.1:0', ...traced },
  });
  const { api } = await ready;
  const orderId = newOrderId('traced');
  const start = (requestId: string) =>
    fetch(`${api}/v1/orders?wait=0`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-request-id': requestId },
      body: JSON.stringify({ order_type: 'withdraw', ...orderInput('withdraw', orderId) }),
    });
  // Nobody serves the account, and the order waits.
  expect((await start('request-of-the-start')).status).toBe(503);
  expect((await start('request-of-a-repeat')).status).toBe(503);
  const { runId } = await temporal.client.workflow.getHandle(orderWorkflowId('default', orderId)).describe();
  kill('SIGTERM');
  expect(await exited).toBe(0);
  const bytes = collector.received();
  await collector.close();
  await temporal.close();
  expect(bytes.includes(Buffer.from(runId.replaceAll('-', ''), 'hex'))).toBe(true);
  for (const text of ['payment-orders-api', 'StartWorkflow:withdraw', 'requestId', 'request-of-the-start', runId])
    expect(bytes.includes(text), text).toBe(true);
  for (const text of ['request-of-a-repeat', 'attached', `order:default:${orderId}`])
    expect(bytes.includes(text), text).toBe(true);
  expect(bytes.includes('4111111111111111')).toBe(false);
});
