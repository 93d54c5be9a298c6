import { type Command, Option } from 'commander';
import type { BookLine, EndLine, SumLine } from '../contract/books/book.js';
import type { BookInput } from '../contract/books/period.js';
import { print } from '../print.js';
import { bookText } from '../reports/book.js';
import { type CommonOptions, given } from './arguments.js';
import { whileShowing } from './progress.js';
import { EXIT, type StarterIo, type Verbs } from './report.js';

type ExportOptions = CommonOptions & BookInput & { csv?: true; ndjson?: true };

/** Writes a text, and waits until the reader has room for more. */
const written = (stream: StarterIo['stdout'], text: string): Promise<void> =>
  new Promise((resolve) => print(stream, text, resolve));

/** Returns what a person has to look at; undefined if the sums agree and nothing is missing. */
function bookProblem(lines: readonly (SumLine | EndLine)[]): string | undefined {
  const problems = lines.flatMap((line) => {
    if (line.kind === 'end') return line.missing > 0 ? [`${line.missing} missing`] : [];
    return line.difference === '0' ? [] : [`difference ${line.difference} ${line.currency}`];
  });
  return problems.length > 0 ? problems.join(', ') : undefined;
}

const progressLine = (read: number, until: string): string => `${read} orders read, created until ${until}`;

/** Adds `order export`. Exit code 1 if something is missing or a sum differs. */
export function addExportVerb(order: Command, io: StarterIo, verbs: Verbs): void {
  const verb = order
    .command('export')
    .description('the book of a day or a month: every order with amounts, fees and balance changes, and their sums')
    .option('--day <day>', 'such as 2026-11-26, by the clock of the service')
    .option('--month <month>', 'such as 2026-11')
    .option('--from <time>', 'a day, or "YYYY-MM-DD hh:mm:ss"')
    .option('--to <time>', 'the same, itself excluded (default: all until now)')
    .option('--csv', 'as CSV (default)')
    .addOption(new Option('--ndjson', 'one JSON object a line').conflicts('csv'));
  verbs.add(verb, async (connect, { account, day, month, from, to, ndjson, json }: ExportOptions) => {
    const { lines, summary } = await whileShowing(io.stderr, 'waiting for a worker', async (show) => {
      const orders = await connect();
      const onProgress = (now: { read: number; until: string }) => show(progressLine(now.read, now.until), 'reading');
      const book = orders.export(given({ account, day, month, from, to }), { onProgress });
      const summary: (SumLine | EndLine)[] = [];
      const lines: BookLine[] = [];
      async function* kept(): AsyncGenerator<BookLine> {
        for await (const line of book) {
          if (line.kind === 'sum' || line.kind === 'end') summary.push(line);
          if (json) lines.push(line);
          yield line;
        }
      }
      for await (const text of bookText(kept(), ndjson ? 'ndjson' : 'csv')) if (!json) await written(io.stdout, text);
      return { lines, summary };
    });
    const problem = bookProblem(summary);
    if (problem && !json) print(io.stderr, `the book does not agree: ${problem}; see docs/books.md\n`);
    return {
      exitCode: problem ? EXIT.endedWithoutSuccess : EXIT.done,
      json: { ...(problem && { problem }), lines },
      text: '',
    };
  });
}
