import { ApplicationFailure } from '@temporalio/common';
import { describeFieldErrors, type FieldError, INVALID_INPUT } from '../../../contract/failures.js';
import { type CsvReport, openCsvReport } from '../../../reports/formats.js';

/** Bad rows in the failure's details; all of them are in the file. */
const MAX_SHOWN_ROWS = 100;
/** The failure lives in histories: its details stay well below 100 KB. */
const MAX_SHOWN_BYTES = 40_000;
const MAX_MESSAGE_LENGTH = 1_000;

/** Collects the bad rows of a batch: the first ones in memory, all of them in a CSV file of REPORT_DIR. */
export class BadRows {
  readonly #shown: FieldError[] = [];
  #shownBytes = 0;
  #count = 0;
  #file?: CsvReport<'line' | 'field' | 'reason'>;

  /** `name`: how the names of the batch's files begin. */
  constructor(
    private readonly reportDir: string | undefined,
    private readonly name: string,
  ) {}

  get count(): number {
    return this.#count;
  }

  async add(line: number, fields: readonly FieldError[]): Promise<void> {
    this.#count += 1;
    if (this.#count <= MAX_SHOWN_ROWS) this.#show(line, fields);
    if (!this.reportDir) return;
    this.#file ??= await openCsvReport(this.reportDir, `${this.name}.errors.csv`, ['line', 'field', 'reason']);
    for (const field of fields) await this.#file.add({ line, ...field });
  }

  #show(line: number, fields: readonly FieldError[]): void {
    for (const { field, reason } of fields) {
      const shown = { field: `line ${line}: ${field}`, reason };
      this.#shownBytes += Buffer.byteLength(JSON.stringify(shown));
      if (this.#shownBytes <= MAX_SHOWN_BYTES) this.#shown.push(shown);
    }
  }

  /** The failure that refuses the whole batch: InvalidInput, with the first bad rows as field errors in its details. */
  async refusal(rows: number): Promise<ApplicationFailure> {
    const file = await this.#file?.finish();
    const where = file ? `; all of them are in ${file.path} of REPORT_DIR` : '';
    const summary = { field: 'rows', reason: `${this.#count} of ${rows} are bad, so nothing was sent${where}` };
    const errors = [summary, ...this.#shown];
    const message = describeFieldErrors(errors.slice(0, 10)).slice(0, MAX_MESSAGE_LENGTH);
    return ApplicationFailure.create({ type: INVALID_INPUT, message, nonRetryable: true, details: [errors] });
  }

  discard(): Promise<void> {
    return this.#file?.discard() ?? Promise.resolve();
  }
}
