import { loadTemporalTarget } from '../../src/config.js';
import { type DevServerOptions, startDevServer } from './dev-server.js';

/** A Temporal server to use: the configured one, or an embedded one that `stop` ends. */
export type ResolvedTemporal = {
  address: string;
  namespace: string;
  /** Base URL of the embedded server's Web UI, when asked for. */
  uiUrl?: string;
  embedded: boolean;
  /** Ends an embedded server; does nothing to a configured one. */
  stop(): Promise<void>;
};

/** Returns the server that TEMPORAL_ADDRESS and its companions name, else an embedded dev server. Throws ConfigError. */
export async function resolveTemporal(options: DevServerOptions): Promise<ResolvedTemporal> {
  if (process.env.TEMPORAL_ADDRESS) {
    const { address, namespace } = loadTemporalTarget();
    return { address, namespace, embedded: false, stop: async () => {} };
  }
  const { address, namespace, uiUrl, stop } = await startDevServer(options);
  return { address, namespace, uiUrl, embedded: true, stop };
}
