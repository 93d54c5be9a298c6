import { describe, expect, test } from 'vitest';
import { checkedReconcileInput, dateTimeMs } from '../../../src/contract/reconcile/input.js';

const NOW_MS = Date.UTC(2026, 10, 21, 12);
const HOUR_MS = 3_600_000;

const checkedOf = (input: unknown) => {
  const checked = checkedReconcileInput(input, NOW_MS);
  if ('errors' in checked) throw new Error(JSON.stringify(checked.errors));
  return checked.input;
};

describe('the checked input of a reconciliation', () => {
  test.each([[undefined], [null], [{}]])('covers the last 72 h for %j', (input) => {
    expect(checkedOf(input)).toEqual({
      account: 'default',
      fromMs: NOW_MS - 72 * HOUR_MS,
      toMs: NOW_MS,
      untilNow: true,
      recover: false,
      openTooLongMs: 24 * HOUR_MS,
    });
  });

  test('takes dates with and without a zone', () => {
    const { fromMs, toMs, untilNow } = checkedOf({ from: '2026-11-01 00:00:00', to: '2026-11-03T02:00:00+02:00' });
    expect([fromMs, toMs, untilNow]).toEqual([Date.UTC(2026, 10, 1), Date.UTC(2026, 10, 3), false]);
  });

  test('until a date to come is until now, and begins 72 h before now', () => {
    const { untilNow, fromMs } = checkedOf({ to: '2026-12-01 00:00:00' });
    expect([untilNow, fromMs]).toEqual([true, NOW_MS - 72 * HOUR_MS]);
    expect(checkedOf({ from: '2026-11-20 00:00:00', to: '2026-12-01 00:00:00' }).untilNow).toBe(true);
  });

  test('takes a time of today for UTC wherever on earth it was read', () => {
    const { fromMs } = checkedOf({ from: '2026-11-22 02:00:00', to: '2026-11-22 03:00:00' });
    expect(fromMs).toBe(NOW_MS + 14 * HOUR_MS);
  });
});

test.each<[unknown, string, string]>([
  ['all', 'input', 'must be an object'],
  [[], 'input', 'must be an object'],
  [{ account: 'Default' }, 'account', 'must be 1 to 32'],
  [{ from: '2026-02-30 00:00:00' }, 'from', 'real date'],
  [{ from: '2026-11-01' }, 'from', 'real date'],
  [{ from: 1_700_000_000 }, 'from', 'real date'],
  [{ to: '2026-11-01T00:00:00+25:00' }, 'to', 'real date'],
  [{ from: '2026-11-21 12:00:00' }, 'from', 'before to'],
  [{ from: '2024-11-21 12:00:00' }, 'from', '366 days'],
  [{ from: '2026-11-22 02:00:01', to: '2026-11-23 00:00:00' }, 'from', 'must not lie in the future'],
  [{ from: '2027-01-01 00:00:00', to: '2027-02-01 00:00:00' }, 'from', 'must not lie in the future'],
  [{ recover: 'yes' }, 'recover', 'true or false'],
  [{ openTooLongMs: 0 }, 'openTooLongMs', 'above 0'],
  [{ openTooLong: '24h' }, 'openTooLong', 'unknown field'],
])('%j is refused, naming %s', (input, field, reason) => {
  const checked = checkedReconcileInput(input, NOW_MS);
  expect(checked).toEqual({ errors: [{ field, reason: expect.stringContaining(reason) }] });
});

test('a date that rolls over is none', () => {
  expect(dateTimeMs('2026-13-01 00:00:00')).toBeUndefined();
  expect(dateTimeMs('2026-11-21 12:00:00')).toBe(NOW_MS);
});
