/**
 * `npm run bench -- --help`: what orders, batches and processes cost. All parts share one server and one service; rounds take turns, so
 * that a busy machine slows all of them down.
 */
import { readOptions } from './options.js';
import { PARTS } from './parts.js';
import { publish, readReports } from './report.js';
import { runParts } from './run-parts.js';

const options = readOptions(process.argv.slice(2), PARTS);
const say = (line: string): void => void process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);
const { report, complete } = options.from
  ? { report: await readReports(options.from), complete: true }
  : await runParts(options, say);
await publish(report, options);
process.exit(complete ? 0 : 1);
