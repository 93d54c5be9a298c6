import { describe, expect, test } from 'vitest';
import { loadTracing } from '../../src/config.js';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };

describe('traces are wanted', () => {
  test.each([
    [{}, false],
    [ENDPOINT, true],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://collector.example/v1/traces' }, true],
    [{ ...ENDPOINT, OTEL_SDK_DISABLED: 'True' }, false],
    [{ ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }, false],
    [{ ...ENDPOINT, OTEL_TRACES_EXPORTER: 'otlp', OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' }, true],
    // By the rules of OpenTelemetry an empty variable is none.
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: '', OTEL_SDK_DISABLED: '' }, false],
    [{ OTEL_SERVICE_NAME: 'payments' }, false],
  ])('with %j: %s', (env, wanted) => {
    expect(loadTracing(env)).toBe(wanted);
  });
});
