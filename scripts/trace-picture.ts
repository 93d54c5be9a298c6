/** `npm run trace:picture`: one order whose first create fails, on a stack of its own that sends its spans here; draws docs/trace.svg. */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { startStack } from './demo/stack.js';
import { startCollector } from './trace/collector.js';
import { waterfall } from './trace/waterfall.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const collector = await startCollector();
process.env.OTEL_EXPORTER_OTLP_ENDPOINT = collector.url;
const stack = await startStack({
  ORDER_POLL_INITIAL: '1h',
  ORDER_POLL_MAX: '1h',
  ORDER_SETTLE_WINDOW: '3s',
  ALLOW_SHORT_WINDOWS: 'true',
});
const orderId = `traced-${Date.now()}`;
try {
  const order = { order_id: orderId, currency: 'usd', network: 'card', amount: '12.50', wallet: '4111111111111111' };
  const input = JSON.stringify({ order: { ...order, description: '[sandbox create=500-before]' } });
  const { address: TEMPORAL_ADDRESS, namespace: TEMPORAL_NAMESPACE } = stack.temporal;
  const args = ['--import', 'tsx', 'src/starter.ts', 'order', 'start', 'withdraw', '-', '--wait'];
  await execa('node', args, { cwd: root, input, env: { TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE } });
} finally {
  await stack.stop();
}
const spans = collector.spans();
await collector.close();
const run = spans.find(
  ({ name, attributes }) => name === 'RunWorkflow:withdraw' && `${attributes.temporalWorkflowId}`.endsWith(orderId),
);
await writeFile(`${root}/docs/trace.svg`, waterfall(spans.filter(({ traceId }) => traceId === run?.traceId)));
