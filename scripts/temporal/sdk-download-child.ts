/**
 * Makes the SDK download the command line tool: `<folder> <SDK's version> <release>`. A process of its own, because the download
 * cannot be cancelled. It calls what @temporalio/testing calls, which no installed package of ours brings.
 */
import { Runtime } from '@temporalio/worker';

const [downloadDir = '', sdkVersion = '', version = ''] = process.argv.slice(2);
const ttl = 86_400_000;
const exe = {
  type: 'cached-download' as const,
  downloadDir,
  version,
  ttl,
  sdkName: 'sdk-typescript',
  sdkVersion,
};
const any = { exe, port: null, extraArgs: [] };
const dev = { ip: '127.0.0.1', ui: false, uiPort: null, namespace: 'default', dbFilename: null };
const log = { format: 'pretty', level: 'warn' };
const runtime = Runtime.instance();
const server = await runtime.createEphemeralServer({ type: 'dev-server', ...any, ...dev, log });
await runtime.shutdownEphemeralServer(server);
