import type { SentSpan } from './collector.js';

const ROW = 22;
const NAMES = 330;
const BARS = 560;
const WIDTH = NAMES + BARS + 90;

/** One colour for each process. */
const COLOURS: Readonly<Record<string, string>> = {
  'payment-orders': '#8250df',
  'payment-orders-worker': '#0969da',
  'payment-orders-receiver': '#1a7f37',
};
const FAILED = '#cf222e';

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** A trace's spans as they follow each other, each below what made it, with how deep it is. */
function inOrder(spans: readonly SentSpan[], parentId?: string, depth = 0): { span: SentSpan; depth: number }[] {
  return spans
    .filter((span) => span.parentId === parentId)
    .sort((a, b) => a.startMs - b.startMs)
    .flatMap((span) => [{ span, depth }, ...inOrder(spans, span.spanId, depth + 1)]);
}

/** What a row says beside its bar: what became of it, and how long it took. */
function told({ attributes, startMs, endMs }: SentSpan): string {
  const { verdict, 'http.response.status_code': status } = attributes;
  const ms = endMs - startMs;
  const took = ms >= 1_000 ? `${(ms / 1_000).toFixed(1)} s` : ms >= 1 ? `${Math.round(ms)} ms` : '';
  return [verdict ?? status, took].filter(Boolean).join(', ');
}

/** The spans of one trace as a waterfall, in SVG. */
export function waterfall(spans: readonly SentSpan[]): string {
  const rows = inOrder(spans);
  const fromMs = Math.min(...spans.map(({ startMs }) => startMs));
  const perMs = BARS / (Math.max(...spans.map(({ endMs }) => endMs)) - fromMs);
  const height = (rows.length + 2) * ROW;
  const bars = rows.map(({ span, depth }, index) => {
    const y = (index + 1) * ROW;
    const x = NAMES + (span.startMs - fromMs) * perMs;
    const width = Math.max((span.endMs - span.startMs) * perMs, 2);
    const inBar = x + width > NAMES + BARS - 40;
    const at = inBar ? `x="${x + width - 6}" text-anchor="end" fill="#fff"` : `x="${x + width + 6}" fill="#57606a"`;
    return [
      `<text x="${8 + 16 * depth}" y="${y + 14}" fill="#24292f">${escaped(span.name)}</text>`,
      `<rect x="${x.toFixed(1)}" y="${y + 3}" width="${width.toFixed(1)}" height="${ROW - 8}" rx="2" fill="${span.failed ? FAILED : (COLOURS[span.service] ?? '#57606a')}"/>`,
      `<text y="${y + 14}" ${at}>${escaped(told(span))}</text>`,
    ].join('\n');
  });
  const legend = Object.entries({ ...COLOURS, failed: FAILED }).map(
    ([name, colour], index) =>
      `<rect x="${8 + 200 * index}" y="${height - 16}" width="10" height="10" fill="${colour}"/>
<text x="${24 + 200 * index}" y="${height - 7}" fill="#57606a">${name}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" font-family="sans-serif" font-size="12" role="img">
<title>one order as a trace</title>
<rect width="100%" height="100%" fill="#fff"/>
${[...bars, ...legend].join('\n')}
</svg>
`;
}
