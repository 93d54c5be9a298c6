/**
 * Makes the SDK download one of its servers: `<cli|test-server> <folder> <SDK's version> <release|default>`. A process of its own, because
 * the download cannot be cancelled. It calls what @temporalio/testing calls, which no installed package of ours brings.
 */
import { Runtime } from '@temporalio/worker';

const [kind, downloadDir = '', sdkVersion = '', version = 'default'] = process.argv.slice(2);
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
const server = await runtime.createEphemeralServer(
  kind === 'cli' ? { type: 'dev-server', ...any, ...dev, log } : { type: 'time-skipping', ...any },
);
await runtime.shutdownEphemeralServer(server);
