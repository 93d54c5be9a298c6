import { stringify } from 'csv-stringify/sync';
import { SIGNED_AMOUNT_FORMAT } from '../contract/money.js';
import { ReportWriter } from './report-file.js';

const ROWS_AT_ONCE = 200;

/** A cell: text, a whole number, or nothing. */
type Cell = string | number | null | undefined;

/** A CSV report that rows are added to, by column name. */
export interface CsvReport<C extends string> extends Pick<ReportWriter, 'finish' | 'discard'> {
  add(row: Partial<Record<C, Cell>>): Promise<void>;
}

/** Begins a CSV report. Texts, not amounts, that a spreadsheet would run as a formula get an apostrophe in front. */
export async function openCsvReport<C extends string>(
  reportDir: string,
  name: string,
  columns: readonly C[],
): Promise<CsvReport<C>> {
  const report = await ReportWriter.open(reportDir, name);
  let waiting: Cell[][] = [[...columns]];
  const writeWaiting = async (): Promise<void> => {
    const text = stringify(waiting);
    waiting = [];
    await report.write(text);
  };
  return {
    add: async (row) => {
      waiting.push(columns.map((column) => harmless(row[column])));
      // Rows are written many at a time: one by one, setting the writer up costs more than writing.
      if (waiting.length >= ROWS_AT_ONCE) await writeWaiting();
    },
    finish: async () => {
      await writeWaiting();
      return report.finish();
    },
    discard: () => report.discard(),
  };
}

/** Characters that make a spreadsheet take a cell for a formula, with their full-width forms. */
const FORMULA_START = /^[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/;

function harmless(cell: Cell): Cell {
  if (typeof cell !== 'string' || SIGNED_AMOUNT_FORMAT.test(cell)) return cell;
  return FORMULA_START.test(cell) ? `'${cell}` : cell;
}

/** A JSON report that rows are added to; `finish` writes the fields that are known only at the end. */
export interface JsonReport extends Pick<ReportWriter, 'discard'> {
  add(row: object): Promise<void>;
  finish(tail: object): ReturnType<ReportWriter['finish']>;
}

/** Begins a JSON report: one object of the fields of `head`, `rows` (one a line) and the fields of `tail`, in this order. */
export async function openJsonReport(reportDir: string, name: string, head: object): Promise<JsonReport> {
  const report = await ReportWriter.open(reportDir, name);
  let separator = `{${[...fieldsOf(head), '\n"rows": ['].join(',')}`;
  return {
    add: async (row) => {
      await report.write(`${separator}\n${JSON.stringify(row)}`);
      separator = ',';
    },
    finish: async (tail) => {
      await report.write(separator === ',' ? '\n]' : `${separator}]`);
      await report.write(`${['', ...fieldsOf(tail)].join(',')}\n}\n`);
      return report.finish();
    },
    discard: () => report.discard(),
  };
}

const fieldsOf = (object: object): string[] =>
  Object.entries(object).flatMap(([name, value]) =>
    value === undefined ? [] : [`\n${JSON.stringify(name)}: ${JSON.stringify(value)}`],
  );
