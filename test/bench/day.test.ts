import { describe, expect, test } from 'vitest';
import { actionsOf, visibilityWritesOf } from '../../bench/day/actions.js';
import { costsOf, PAPER } from '../../bench/day/costs.js';
import { arrivalsOf, type Day, MINUTES, pollsOf, simulate, workersOf } from '../../bench/day/simulate.js';
import { limitThatKeepsUp } from '../../bench/day/tables.js';

const DAY: Day = { orders: 100_000, seed: 's', limit: 40, openMinutes: 5, pollEveryMinutes: 5 };

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

describe('arrivals', () => {
  test('are whole, add up to the day, and are the same for the same seed alone', () => {
    const arrivals = arrivalsOf(DAY);
    expect(arrivals).toHaveLength(MINUTES);
    expect(arrivals.every((count) => Number.isInteger(count) && count >= 0)).toBe(true);
    expect(sum(arrivals)).toBe(DAY.orders);
    expect(arrivalsOf(DAY)).toEqual(arrivals);
    expect(arrivalsOf({ ...DAY, seed: 'other' })).not.toEqual(arrivals);
  });
});

describe('a day', () => {
  test('loses no order: what arrived was created or waits, what was created ended or is open', () => {
    const hours = simulate({ ...DAY, orders: 1_000_000 }, PAPER);
    const [arrived, created, ended] = [
      sum(hours.map((hour) => hour.arrived)),
      sum(hours.map((hour) => hour.created)),
      sum(hours.map((hour) => hour.ended)),
    ];
    expect(arrived).toBe(1_000_000);
    expect(created + (hours.at(-1)?.queued ?? 0)).toBe(arrived);
    expect(ended + (hours.at(-1)?.waiting ?? 0)).toBe(created);
    expect(hours.at(-1)?.queued).toBeGreaterThan(0);
  });

  test('stays within the limit in every hour, and leaves no queue where the limit is large enough', () => {
    for (const { requestsPerSecond } of simulate({ ...DAY, orders: 1_000_000 }, PAPER)) {
      expect(requestsPerSecond).toBeLessThanOrEqual(40);
    }
    const limit = limitThatKeepsUp(DAY, PAPER);
    expect(simulate({ ...DAY, limit }, PAPER).every(({ queued }) => queued === 0)).toBe(true);
    expect(simulate({ ...DAY, limit: limit - 1 }, PAPER).some(({ queued }) => queued > 0)).toBe(true);
  });

  test('costs per order what it was told', () => {
    const hours = simulate(DAY, { ...PAPER, workerCpuMs: 36, serverCpuMs: 72, historyBytes: 10_000 });
    expect(sum(hours.map(({ workerCores }) => workerCores))).toBeCloseTo((DAY.orders * 36) / 3_600_000);
    expect(sum(hours.map(({ serverCores }) => serverCores))).toBeCloseTo((DAY.orders * 72) / 3_600_000);
    expect(hours.at(-1)?.storageGb).toBeCloseTo(1);
    expect(workersOf(hours)).toBe(2);
  });

  test('asks 5,000 waiting orders in five requests a round, and one alone in one', () => {
    expect(pollsOf(5_000, PAPER, { ...DAY, pollEveryMinutes: 1 })).toBe(5);
    expect(pollsOf(1, PAPER, { ...DAY, pollEveryMinutes: 1 })).toBe(1);
    expect(pollsOf(0, PAPER, DAY)).toBe(0);
  });
});

test('actions are attempts, starts, timers, signals and upserts of ours, not those of a patch', () => {
  const upsert = (name: string) => ({
    upsertWorkflowSearchAttributesEventAttributes: { searchAttributes: { indexedFields: { [name]: {} } } },
  });
  const events = [
    { workflowExecutionStartedEventAttributes: {} },
    { workflowTaskScheduledEventAttributes: {} },
    upsert('TemporalChangeVersion'),
    upsert('PaymentStatus'),
    { activityTaskStartedEventAttributes: { attempt: 3 } },
    { timerStartedEventAttributes: {} },
    { workflowExecutionSignaledEventAttributes: {} },
  ];
  expect(actionsOf(events)).toBe(7);
  expect(visibilityWritesOf(events)).toBe(3);
});

test('a report replaces the figures that it has, and says which', () => {
  const rounds = [{ workerCpuMs: 30 }, { workerCpuMs: 20 }, { workerCpuMs: 25 }];
  const table = { id: 'orders', title: '', figures: [], rows: [{ name: 'ours by callback', rounds }] };
  expect(costsOf({ runs: [{ facts: {}, tables: [table] }] })).toEqual({
    costs: { ...PAPER, workerCpuMs: 25 },
    measured: ['workerCpuMs'],
  });
});
