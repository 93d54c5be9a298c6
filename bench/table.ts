import { median, spread } from './statistics.js';

/** What is measured: the name of a column, and its unit. */
export interface Figure {
  id: string;
  title: string;
  unit?: string;
  /** It is drawn. */
  drawn?: true;
}

/** What was measured of one contender, a round each. A figure that a round does not have could not be measured. */
export interface Row {
  name: string;
  /** The row that its ratios are made with. */
  against?: string;
  rounds: Record<string, number>[];
}

/** The figures of a part. */
export interface Table {
  id: string;
  title: string;
  figures: readonly Figure[];
  rows: Row[];
  /** A line for each figure, of medians alone: there are too many for columns. */
  turned?: true;
  /** What went otherwise than it should, and what a reader must know. */
  notes?: string[];
}

/** The rounds of a figure. */
export const valuesOf = ({ rounds }: Row, { id }: Pick<Figure, 'id'>): number[] =>
  rounds.map((round) => round[id]).filter((value) => value !== undefined && Number.isFinite(value)) as number[];

/** The middle of the ratios of each round to the other's same round: what slows the machine down for a while slows both. */
export function ratio(row: Row, other: Row, { id }: Pick<Figure, 'id'>): number | undefined {
  const ratios = row.rounds.map(
    (round, index) => (round[id] ?? Number.NaN) / (other.rounds[index]?.[id] ?? Number.NaN),
  );
  const known = ratios.filter(Number.isFinite);
  return known.length === 0 ? undefined : median(known);
}

/** Three significant digits at least, no exponents; – for what is not known. */
export function shown(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toFixed(digits);
}

function cell(table: Table, row: Row, figure: Figure): string {
  const values = valuesOf(row, figure);
  if (values.length === 0) return '–';
  const other = table.rows.find(({ name }) => name === row.against);
  const times = other && ratio(row, other, figure);
  const [min, max] = spread(values);
  const range = values.length > 1 ? ` [${shown(min)}–${shown(max)}]` : '';
  return `${shown(median(values))}${times === undefined ? '' : ` (**${times.toFixed(2)} ×**)`}${range}`;
}

const headOf = ({ title, unit }: Figure): string => (unit ? `${title}, ${unit}` : title);

/** The lines of a table: its head, then a line for each row or, if it is turned, for each figure. */
function linesOf(table: Table): string[][] {
  const { title, figures, rows, turned } = table;
  if (turned) {
    const medians = (figure: Figure) => rows.map((row) => shown(median(valuesOf(row, figure))));
    return [[title, ...rows.map(({ name }) => name)], ...figures.map((figure) => [headOf(figure), ...medians(figure)])];
  }
  const compared = rows.some(({ against }) => against);
  const named = (name: string, against: string) => (compared ? [name, against] : [name]);
  return [
    [...named(title, 'ratios to'), ...figures.map(headOf)],
    ...rows.map((row) => [...named(row.name, row.against ?? ''), ...figures.map((figure) => cell(table, row, figure))]),
  ];
}

/** A table in Markdown: median (ratio to the row named) [smallest–largest]. */
export function markdown(table: Table): string {
  const [head = [], ...lines] = linesOf(table);
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
  const notes = (table.notes ?? []).map((note) => `- ${note}`);
  const parts = [line(head), `|${'---|'.repeat(head.length)}`, ...lines.map(line)];
  return [...parts, ...(notes.length > 0 ? ['', ...notes] : [])].join('\n');
}
