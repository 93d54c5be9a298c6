import { defaultPayloadConverter } from '@temporalio/common';
import { describe, expect, test } from 'vitest';
import { spanIdOfRun, spanIn, traceHeaders } from '../../src/contract/trace.js';

const SPAN = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };
const NAME = '_tracer-data';
const header = (value: unknown) => ({ [NAME]: defaultPayloadConverter.toPayload(value) });

test('a span passes through headers as Temporal’s own interceptors write it', () => {
  const headers = traceHeaders(SPAN);
  expect(spanIn(headers)).toEqual(SPAN);
  const carrier = { traceparent: `00-${SPAN.traceId}-${SPAN.spanId}-01` };
  expect(defaultPayloadConverter.fromPayload(headers[NAME] ?? {})).toEqual(carrier);
  expect(spanIn(header({ ...carrier, tracestate: 'a=b', baggage: 'c=d' }))).toEqual(SPAN);
});

describe('no span is read from', () => {
  test.each([
    ['no header', {}],
    ['a span that is not sampled', header({ traceparent: `00-${SPAN.traceId}-${SPAN.spanId}-00` })],
    ['an invalid trace', header({ traceparent: `00-${'0'.repeat(32)}-${SPAN.spanId}-01` })],
    ['what is longer', header({ traceparent: `00-${SPAN.traceId}-${SPAN.spanId}-01\n4111111111111111` })],
    ['a carrier without one', header({})],
    ['null', header(null)],
    ['what is no JSON', { [NAME]: { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('{') } }],
    ['another encoding', { [NAME]: { metadata: { encoding: Buffer.from('zz') }, data: Buffer.from('zz') } }],
    [
      'what is too long to look at',
      header({ traceparent: `00-${SPAN.traceId}-${SPAN.spanId}-01`, more: 'z'.repeat(2_000) }),
    ],
  ])('%s', (_what, headers) => {
    expect(spanIn(headers)).toBeUndefined();
  });
});

test('the span of a run is known by its id', () => {
  expect(spanIdOfRun('019ab3c4-1111-7abc-8def-0123456789ab')).toBe('8def0123456789ab');
});
