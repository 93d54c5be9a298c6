import type { Env } from './env.js';

/** Variables of OpenTelemetry, which its own packages read, too. */
const ENDPOINTS = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'] as const;

/** True if traces are wanted: somewhere to send them is named, and nothing switches them off. */
export const isTraced = (env: Env): boolean =>
  ENDPOINTS.some((name) => env[name]) &&
  env.OTEL_SDK_DISABLED?.toLowerCase() !== 'true' &&
  (env.OTEL_TRACES_EXPORTER || 'otlp') === 'otlp';
