import { describe, expect, test } from 'vitest';
import { isClientTraced, loadTracing } from '../../src/config.js';

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
    expect(isClientTraced(env)).toBe(wanted);
  });
});

describe('what a process of ours cannot send is a mistake, and none in a process of others', () => {
  test.each([
    [{ ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'OTEL_EXPORTER_OTLP_PROTOCOL: must be http/protobuf'],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, 'OTEL_EXPORTER_OTLP_ENDPOINT: must be an http(s) URL'],
    [{ ...ENDPOINT, OTEL_TRACES_EXPORTER: 'zipkin' }, 'OTEL_TRACES_EXPORTER: must be otlp or none'],
  ])('%j', (env, mistake) => {
    expect(() => loadTracing(env)).toThrow(mistake);
    expect(() => isClientTraced(env)).not.toThrow();
  });

  test('no mistake shows what a URL holds', () => {
    expect(() => loadTracing({ OTEL_EXPORTER_OTLP_ENDPOINT: 'ftp://zz-user:zz-secret@collector' })).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('zz-') }),
    );
  });
});
