import { readHistories } from '../../scripts/replay/files.js';
import type { Figure, Row, Table } from '../table.js';
import { actionsOf, visibilityWritesOf } from './actions.js';
import { type Costs, type Day, type Hour, simulate, workersOf } from './simulate.js';

const HOUR_FIGURES: readonly Figure[] = [
  { id: 'arrived', title: 'arrive', drawn: true },
  { id: 'created', title: 'created', drawn: true },
  { id: 'queued', title: 'wait for the limit', drawn: true },
  { id: 'delayMinutes', title: 'the last one waits', unit: 'min' },
  { id: 'waiting', title: 'wait for the service' },
  { id: 'requestsPerSecond', title: 'requests/s' },
  { id: 'workerCores', title: 'workers, cores' },
  { id: 'serverCores', title: 'server, cores' },
  { id: 'storageGb', title: 'histories so far', unit: 'GB' },
];

/** A day, every fourth hour. */
export function dayTable(day: Day, costs: Costs): Table {
  const hours = simulate(day, costs).map((hour, index) => ({ name: `ours, ${index} h`, rounds: [{ ...hour }] }));
  const rows = hours.filter((_, index) => index % 4 === 0);
  const title = `${day.orders} orders, ${day.limit} requests/s`;
  return { id: 'day', title, figures: HOUR_FIGURES, rows };
}

const SIZE_FIGURES: readonly Figure[] = [
  { id: 'limit', title: 'limit that keeps up', unit: 'requests/s', drawn: true },
  { id: 'ordersPerSecond', title: 'busiest hour', unit: 'orders/s' },
  { id: 'workers', title: 'worker processes' },
  { id: 'serverCores', title: 'server, cores' },
  { id: 'mostWaiting', title: 'waiting at most' },
  { id: 'actions', title: 'actions a day', unit: 'million' },
  { id: 'visibility', title: 'visibility writes/s' },
  { id: 'storageGb', title: 'histories of 30 days', unit: 'GB' },
];

const RETENTION_DAYS = 30;

/** The smallest whole limit with which no hour of the day ends with a queue. */
export function limitThatKeepsUp(day: Omit<Day, 'limit'>, costs: Costs): number {
  let [low, high] = [1, 1];
  const keepsUp = (limit: number) => simulate({ ...day, limit }, costs).every(({ queued }) => queued === 0);
  while (!keepsUp(high)) [low, high] = [high, high * 2];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (keepsUp(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/** What so many orders a day want. */
export async function sizesTable(sizes: readonly number[], day: Day, costs: Costs): Promise<Table> {
  const perOrder = await figuresOf('plain-withdraw');
  const rows: Row[] = sizes.map((orders) => {
    const limit = limitThatKeepsUp({ ...day, orders }, costs);
    const hours = simulate({ ...day, orders, limit }, costs);
    const most = (figure: (hour: Hour) => number) => Math.max(...hours.map(figure));
    const ordersPerSecond = most(({ created }) => created) / 3_600;
    const round = {
      ...{ limit, ordersPerSecond, workers: workersOf(hours), serverCores: most(({ serverCores }) => serverCores) },
      ...{ mostWaiting: most(({ waiting }) => waiting), actions: (orders * perOrder.actions) / 1e6 },
      ...{ visibility: ordersPerSecond * perOrder.visibility },
      storageGb: (orders * costs.historyBytes * RETENTION_DAYS) / 1e9,
    };
    return { name: `${orders} a day`, rounds: [round] };
  });
  return { id: 'sizes', title: 'orders', figures: SIZE_FIGURES, rows };
}

const ACTION_FIGURES: readonly Figure[] = [
  { id: 'actions', title: 'actions', drawn: true },
  { id: 'visibility', title: 'visibility writes' },
  { id: 'events', title: 'events' },
];

/** Each a recorded history: what Temporal Cloud would have billed for it. */
export async function actionsTable(names: readonly string[]): Promise<Table> {
  const rows = await Promise.all(names.map(async (name) => ({ name, rounds: [await figuresOf(name)] })));
  return { id: 'actions', title: 'recorded run', figures: ACTION_FIGURES, rows };
}

const histories = readHistories();

async function figuresOf(name: string) {
  const found = (await histories).find((one) => one.name === name);
  if (!found) throw new Error(`no history ${name} is recorded`);
  const events = found.history.events ?? [];
  return { actions: actionsOf(events), visibility: visibilityWritesOf(events), events: events.length };
}
