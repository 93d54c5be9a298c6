import { median, percentile } from '../bench/statistics.js';
import type { Figure, Table } from '../bench/table.js';
import type { Judged } from '../chaos/report.js';
import { PARTS } from './disturbances.js';
import type { Sample } from './samples.js';

/** Medians of each part; several show how much a figure varies. */
const POINTS_PER_PART = 4;

/** Samples of a piece of the run, and the one before it. */
interface Piece {
  samples: readonly Sample[];
  before: Sample | undefined;
}

/** Figure that must stay flat: its median in the last part is at most `ratio` of that in the second, plus `slack`. */
export interface Series extends Figure {
  ratio: number;
  /** In the unit of the figure: what is small varies more. */
  slack: number;
  of(piece: Piece): number;
}

type Process = 'memory' | 'descriptors';

const ofProcess = (id: string, name: string, figure: Process, title: string, slack: number): Series => ({
  ...{ id: `${id}-${figure}`, title, ...(figure === 'memory' && { unit: 'MB', drawn: true }), ratio: 1.25, slack },
  of: ({ samples }) => median(samples.flatMap(({ processes }) => processes[name]?.[figure] ?? [])),
});

const ofState = (id: 'open' | 'backlog', title: string, slack: number): Series => ({
  ...{ id, title, drawn: true, ratio: 1.5, slack },
  of: ({ samples }) => median(samples.flatMap((sample) => sample[id] ?? [])),
});

const ofOrders = (
  id: 'endMs' | 'answerMs' | 'events' | 'bytes',
  share: number,
  figure: Pick<Series, 'title' | 'unit' | 'drawn' | 'ratio' | 'slack'>,
): Series => ({
  ...{ id: `${id}-${share}`, ...figure },
  of: ({ samples }) =>
    percentile(
      samples.flatMap((sample) => sample[id]),
      share,
    ),
});

/** Bytes that the database grew, by orders that ended meanwhile. */
function growth({ samples, before }: Piece): number {
  const known = [before, ...samples].filter((sample) => sample?.ended !== undefined);
  const [first, last] = [known[0], known.at(-1)];
  const orders = (last?.ended ?? 0) - (first?.ended ?? 0);
  return orders > 0 ? (((last?.databaseMb ?? 0) - (first?.databaseMb ?? 0)) * 1_024) / orders : Number.NaN;
}

/** Every figure that is judged, with its limits. `worker-3` is not killed in the second half of a run. */
export const SERIES: readonly Series[] = [
  ofProcess('worker', 'worker-3', 'memory', 'worker, resident', 40),
  ofProcess('receiver', 'receiver', 'memory', 'receiver, resident', 30),
  ofProcess('api', 'api', 'memory', 'API, resident', 30),
  ofProcess('worker', 'worker-3', 'descriptors', 'worker, descriptors', 20),
  ofProcess('receiver', 'receiver', 'descriptors', 'receiver, descriptors', 20),
  ofProcess('api', 'api', 'descriptors', 'API, descriptors', 20),
  ofState('open', 'open orders', 15),
  ofState('backlog', 'backlog, tasks', 15),
  { id: 'growth', title: 'database an order', unit: 'KiB', drawn: true, ratio: 1.3, slack: 5, of: growth },
  ofOrders('events', 0.5, { title: 'events of history, p50', ratio: 1.1, slack: 2 }),
  ofOrders('bytes', 0.5, { title: 'bytes of history, p50', ratio: 1.1, slack: 1_000 }),
  ofOrders('endMs', 0.5, { title: 'start to end, p50', unit: 'ms', drawn: true, ratio: 1.25, slack: 500 }),
  ofOrders('endMs', 0.95, { title: 'start to end, p95', unit: 'ms', ratio: 1.5, slack: 1_000 }),
  ofOrders('endMs', 0.99, { title: 'start to end, p99', unit: 'ms', ratio: 2, slack: 5_000 }),
  ofOrders('answerMs', 0.5, { title: 'start to first answer, p50', unit: 'ms', drawn: true, ratio: 1.25, slack: 200 }),
  ofOrders('answerMs', 0.95, { title: 'start to first answer, p95', unit: 'ms', ratio: 1.5, slack: 500 }),
  ofOrders('answerMs', 0.99, { title: 'start to first answer, p99', unit: 'ms', ratio: 2, slack: 5_000 }),
];

/** Returns the figures by part of the run, as the bench shows and draws its own. */
export function soakTable(samples: readonly Sample[], startedAtMs: number, totalMs: number, title: string): Table {
  const pointMs = totalMs / PARTS / POINTS_PER_PART;
  const round = (point: number): Record<string, number> => {
    const beginMs = startedAtMs + point * pointMs;
    const piece = {
      samples: samples.filter(({ atMs }) => atMs >= beginMs && atMs < beginMs + pointMs),
      before: samples.findLast(({ atMs }) => atMs < beginMs),
    };
    const values = SERIES.map((series): [string, number] => [series.id, series.of(piece)]);
    return Object.fromEntries(values.filter(([, value]) => Number.isFinite(value)));
  };
  const rows = Array.from({ length: PARTS }, (_, part) => ({
    name: `ours, ${part + 1}/${PARTS}`,
    rounds: Array.from({ length: POINTS_PER_PART }, (_, point) => round(part * POINTS_PER_PART + point)),
  }));
  const figures = SERIES.map(({ id, title: name, unit, drawn }) => ({
    id,
    title: name,
    unit,
    ...(drawn && { drawn }),
  }));
  return { id: 'soak', title, figures, rows, turned: true };
}

/** Compares the second part with the last one, by figure. A figure that was not measured is a finding. */
export const judgeFlatness = ({ rows }: Table): Judged[] =>
  SERIES.map(({ id, title, unit = '', ratio, slack }) => {
    const of = (part: number) => median(rows[part]?.rounds.flatMap((round) => round[id] ?? []) ?? []);
    const [early, late] = [of(1), of(PARTS - 1)];
    const isFlat = late <= early * ratio + slack;
    const text = `${early.toFixed(1)} ${unit} in part 2, ${late.toFixed(1)} in part ${PARTS}; at most × ${ratio} + ${slack}`;
    return { name: `not flat: ${title}`, findings: isFlat ? [] : [{ text }] };
  });
