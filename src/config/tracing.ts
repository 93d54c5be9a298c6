import type { Env, Problems } from './env.js';

/** What is sent to a collector is set by the variables of OpenTelemetry, which its own packages read, too. */
const ENDPOINTS = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'] as const;
const PROTOCOLS = ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'] as const;
const EXPORTER = 'OTEL_TRACES_EXPORTER';

/** True where traces are wanted: somewhere to send them is named, and nothing switches them off. */
export const isTraced = (env: Env): boolean =>
  ENDPOINTS.some((name) => env[name]) &&
  env.OTEL_SDK_DISABLED?.toLowerCase() !== 'true' &&
  (env[EXPORTER] || 'otlp') === 'otlp';

/** The same, of a process of ours; what it could not send is a mistake. */
export function readTracing(env: Env, problems: Problems): boolean {
  if (env[EXPORTER] && !/^(otlp|none)$/.test(env[EXPORTER])) problems.add(EXPORTER, 'must be otlp or none');
  if (!isTraced(env)) return false;
  for (const name of ENDPOINTS) {
    const url = env[name];
    if (url && !(URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)))
      problems.add(name, 'must be an http(s) URL such as http://127.0.0.1:4318');
  }
  for (const name of PROTOCOLS) {
    if (env[name] && env[name] !== 'http/protobuf') problems.add(name, 'must be http/protobuf: no other is spoken');
  }
  return true;
}
