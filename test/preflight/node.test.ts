import { expect, test } from 'vitest';
import { oldNodeWarning } from '../../src/preflight/node.js';

test.each([
  ['20.20.2', '2026-04-30T23:59:59Z', undefined],
  ['20.20.2', '2026-05-01T00:00:00Z', /^Node\.js 20\.20\.2 has had no security fixes since 2026-04-30\./],
  ['22.12.0', '2027-04-30T12:00:00Z', undefined],
  ['24.0.0', '2028-05-01T00:00:00Z', /since 2028-04-30\./],
  ['99.0.0', '2040-01-01T00:00:00Z', undefined],
])('Node.js %s on %s', (version, now, warning) => {
  const said = oldNodeWarning(version, Date.parse(now));
  if (warning) expect(said).toMatch(warning);
  else expect(said).toBeUndefined();
});
