import { loadClientConnectConfig } from '@temporalio/envconfig';
import type { NativeConnectionOptions } from '@temporalio/worker';
import { type DevServerOptions, startDevServer } from './dev-server.js';

/** A Temporal server to use: the configured one, or an embedded one that `stop` ends. */
export type ResolvedTemporal = {
  /** For `Connection.connect` and `NativeConnection.connect`. */
  connectionOptions: NativeConnectionOptions;
  address: string;
  namespace: string;
  /** Base URL of the embedded server's Web UI, when asked for. */
  uiUrl?: string;
  embedded: boolean;
  /** Ends an embedded server; does nothing to a configured one. */
  stop(): Promise<void>;
};

/** The server that TEMPORAL_ADDRESS and its companions name, else an embedded dev server. */
export async function resolveTemporal(options: DevServerOptions): Promise<ResolvedTemporal> {
  if (process.env.TEMPORAL_ADDRESS) {
    const { connectionOptions, namespace = 'default' } = loadClientConnectConfig();
    const address = connectionOptions.address ?? process.env.TEMPORAL_ADDRESS;
    return { connectionOptions, address, namespace, embedded: false, stop: async () => {} };
  }
  const { address, namespace, uiUrl, stop } = await startDevServer(options);
  return { connectionOptions: { address }, address, namespace, uiUrl, embedded: true, stop };
}
