/** The smallest receiver: reads the body, signals the workflow that the path's last word names, answers 200. */
import { createServer } from 'node:http';
import { Client, Connection } from '@temporalio/client';

const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace = '' } = process.env;

const client = new Client({ connection: await Connection.connect({ address }), namespace });
const server = createServer(async (request, response) => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const { order_uuid, status } = JSON.parse(Buffer.concat(parts).toString());
  const workflowId = decodeURIComponent(request.url?.split('/').at(-1) ?? '');
  await client.workflow.getHandle(workflowId).signal('orderCallback', { order_uuid, status });
  response.end();
});
server.listen(0, '127.0.0.1', () => {
  const at = server.address();
  process.stdout.write(`ready receiver=http://127.0.0.1:${typeof at === 'object' ? at?.port : ''}\n`);
});
process.once('SIGTERM', () => process.exit(0));
