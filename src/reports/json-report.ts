import { openReport, type ReportWriter } from './report-file.js';

/** A JSON report that rows are added to; `finish` writes the fields that are known only at the end. */
export interface JsonReport extends Pick<ReportWriter, 'discard'> {
  add(row: object): Promise<void>;
  finish(tail: object): ReturnType<ReportWriter['finish']>;
}

/** Begins a JSON report: one object of the fields of `head`, `rows` (one a line) and the fields of `tail`, in this order. */
export async function openJsonReport(reportDir: string, name: string, head: object): Promise<JsonReport> {
  const report = await openReport(reportDir, name);
  let separator = `{${fieldsOf(head)
    .map((field) => `${field},`)
    .join('')}\n"rows": [`;
  return {
    add: async (row) => {
      await report.write(`${separator}\n${JSON.stringify(row)}`);
      separator = ',';
    },
    finish: async (tail) => {
      await report.write(separator === ',' ? '\n]' : `${separator}]`);
      await report.write(
        `${fieldsOf(tail)
          .map((field) => `,${field}`)
          .join('')}\n}\n`,
      );
      return report.finish();
    },
    discard: () => report.discard(),
  };
}

const fieldsOf = (object: object): string[] =>
  Object.entries(object).flatMap(([name, value]) =>
    value === undefined ? [] : [`\n${JSON.stringify(name)}: ${JSON.stringify(value)}`],
  );
