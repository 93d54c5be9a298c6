import { Command, InvalidArgumentError, Option } from 'commander';

/** Options of a soak run. */
export interface SoakOptions {
  /** Length of the load. */
  minutes: number;
  /** Orders started per second. */
  rate: number;
  seed: string;
  /** Database of Temporal: PostgreSQL as deployed, or the development server's SQLite. */
  temporal: 'postgres' | 'dev';
  /** Built checkout that deploys alternate with. */
  against?: string;
  /** Where the samples go, one JSON object a line. */
  samples: string;
  json?: string;
  charts?: string;
  page?: string;
}

const from = (least: number, most: number) => (text: string) => {
  const value = Number(text);
  if (text.trim() !== '' && value >= least && value <= most) return value;
  throw new InvalidArgumentError(`must be a number from ${least} to ${most}`);
};

function seedText(text: string): string {
  if (/^[A-Za-z0-9-]{1,32}$/.test(text)) return text;
  throw new InvalidArgumentError('must be 1 to 32 of A-Z a-z 0-9 -');
}

/** Reads the command line; on a mistake, prints it and ends the process with 2. */
export function readOptions(argv: readonly string[]): SoakOptions {
  const program = new Command('soak')
    .description(
      'Runs orders for hours while processes die and change, and proves that nothing is lost and nothing grows.',
    )
    .addOption(new Option('--hours <n>', 'length of the load').default(2).argParser(from(0.05, 72)))
    .addOption(new Option('--minutes <n>', 'the same in minutes').argParser(from(3, 4_320)).conflicts('hours'))
    .addOption(new Option('--rate <n>', 'orders started per second').default(3).argParser(from(0.1, 100)))
    .addOption(new Option('--temporal <kind>', 'its database').choices(['postgres', 'dev']).default('postgres'))
    .addOption(new Option('--against <folder>', 'built checkout that deploys alternate with; otherwise the same build'))
    .addOption(new Option('--seed <s>', 'decides inputs and outcomes').default('soak').argParser(seedText))
    .addOption(new Option('--samples <file>', 'NDJSON of all samples').default('.chaos/soak.ndjson'))
    .addOption(new Option('--json <file>', 'where the figures go'))
    .addOption(new Option('--charts <folder>', 'where the chart goes'))
    .addOption(new Option('--page <file>', 'the page whose table is filled'))
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2));
  const { hours, minutes = hours * 60, ...others } = program.parse(argv).opts();
  return { minutes, ...others } as SoakOptions;
}
