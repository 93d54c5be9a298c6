/** A worker of the floor's workflows, with the SDK's defaults. */
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { floorActivities } from './activities.js';

const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace = '', FLOOR_SERVICE = '' } = process.env;

Runtime.install({ logger: new DefaultLogger('ERROR') });
const client = new Client({ connection: await Connection.connect({ address }), namespace });
const worker = await Worker.create({
  connection: await NativeConnection.connect({ address }),
  namespace,
  taskQueue: 'floor',
  workflowsPath: fileURLToPath(new URL('workflows.ts', import.meta.url)),
  activities: floorActivities(JSON.parse(FLOOR_SERVICE), client),
});
process.once('SIGTERM', () => worker.shutdown());
process.stdout.write('ready floor\n');
await worker.run();
process.exit(0);
