import { isIP } from 'node:net';
import { type Env, oneOf, optional, type Problems } from './env.js';

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;

/** What a process logs at least. */
export type LogLevel = (typeof LEVELS)[number];

/** What shows how a process is. */
export interface Monitoring {
  logLevel: LogLevel;
  /** Where metrics and health are served; absent = nowhere. */
  metricsAddress?: { host: string; port: number };
}

/** `LOG_LEVEL`; info when unset. */
export const readLogLevel = (env: Env, problems: Problems): LogLevel =>
  oneOf(env, 'LOG_LEVEL', LEVELS, problems) ?? 'info';

/** `LOG_LEVEL` and `METRICS_ADDRESS`. */
export function readMonitoring(env: Env, problems: Problems): Monitoring {
  const mistake = 'must be an IP address and a port such as 127.0.0.1:9464 or [::1]:9464';
  const metricsAddress = optional(env, 'METRICS_ADDRESS', problems, addressAndPort, mistake);
  return { logLevel: readLogLevel(env, problems), ...(metricsAddress && { metricsAddress }) };
}

function addressAndPort(text: string): Monitoring['metricsAddress'] {
  const [, six, four, digits = ''] = /^(?:\[(.+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = six ?? four ?? '';
  const port = Number(digits);
  return isIP(host) === (six === undefined ? 4 : 6) && port <= 65_535 ? { host, port } : undefined;
}
