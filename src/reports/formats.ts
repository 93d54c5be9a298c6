import { stringify } from 'csv-stringify/sync';
import { SIGNED_AMOUNT_FORMAT } from '../contract/money.js';
import { ReportWriter } from './report-file.js';

const ROWS_AT_ONCE = 200;

/** Cell: text, whole number, or empty. */
export type Cell = string | number | null | undefined;

/** CSV report with rows by column name. */
export interface CsvReport<C extends string> extends Pick<ReportWriter, 'finish' | 'discard'> {
  add(row: Partial<Record<C, Cell>>): Promise<void>;
}

/** Opens a CSV report. Texts that a spreadsheet would run as a formula get an apostrophe. */
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
      waiting.push(cellsOf(columns, row));
      // Writes many rows at once, because each write has overhead.
      if (waiting.length >= ROWS_AT_ONCE) await writeWaiting();
    },
    finish: async () => {
      await writeWaiting();
      return report.finish();
    },
    discard: () => report.discard(),
  };
}

/** Returns a row as CSV, with the same care for formulas. */
export const csvLine = <C extends string>(columns: readonly C[], row: Partial<Record<C, Cell>>): string =>
  stringify([cellsOf(columns, row)]);

const cellsOf = <C extends string>(columns: readonly C[], row: Partial<Record<C, Cell>>): Cell[] =>
  columns.map((column) => harmless(row[column]));

/** Characters that start a formula, with their full-width forms. Spreadsheets skip blanks. */
const FORMULA_START = /^[\s\p{Cc}\p{Cf}]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|^[\t\r\n]/u;

function harmless(cell: Cell): Cell {
  if (typeof cell !== 'string' || SIGNED_AMOUNT_FORMAT.test(cell)) return cell;
  return FORMULA_START.test(cell) ? `'${cell}` : cell;
}

/** JSON report with rows. `finish` writes the fields that are known only at the end. */
interface JsonReport extends Pick<ReportWriter, 'discard'> {
  add(row: object): Promise<void>;
  finish(tail: object): ReturnType<ReportWriter['finish']>;
}

/** Opens a JSON report: one object with the fields of `head`, `rows` (one per line) and `tail`. */
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
