import type { Command } from 'commander';
import { type BatchHandle, wantsPerson } from '../client/batch/batch-handle.js';
import type { BatchRowEntry, BatchRowPage } from '../client/batch/batch-rows.js';
import type { CheckOptions } from '../client/checked-input.js';
import type { SignOptions } from '../client/signing.js';
import type { PaymentOrders } from '../client.js';
import type { BatchApproval, BatchInstruction, BatchResult, BatchState } from '../contract/batch/batch.js';
import { MAX_ROW_PAGE } from '../contract/batch/files.js';
import { print } from '../print.js';
import {
  type CommonOptions,
  signerOf,
  withBatchOptions,
  withFormatChecks,
  withKey,
  withReason,
  withTimeout,
} from './arguments.js';
import {
  batchCommands,
  batchLine,
  batchResultText,
  batchRowsText,
  batchStateText,
  followLine,
  planText,
} from './batch-text.js';
import { type Followed, reportOfStart, show, watch } from './follow.js';
import { type BatchStartOptions, readBatchInput } from './input.js';
import { whileShowing } from './progress.js';
import { EXIT, exitCodeOfBatch, notDecided, type Report, type StarterIo, type Verbs } from './report.js';
import { stopsOf, withStops } from './stop-verbs.js';

/** Returns a batch in the form that `follow` shows. */
function followed(
  { self }: StarterIo,
  handle: BatchHandle,
  stopped = async (): Promise<string[]> => [],
): Followed<BatchState, BatchResult> {
  const { batchId, account, workflowId } = handle;
  const name = `batch "${batchId}"`;
  return {
    handle,
    name,
    id: { batchId, account, workflowId },
    never: 'never send its rows under other ids',
    shownBy: followLine(self, handle),
    endedBefore: `${name} ended before; --again runs it anew. Nothing was paid now, this is how it ended:`,
    nobodyAnswers: `no worker answers; ${name} waits`,
    stateText: (state) => batchStateText(state),
    commands: (state) => batchCommands(self, account, state),
    progress: async (state) => {
      const stops = await stopped();
      return { line: [batchLine(state), ...stops].join('; '), key: [state?.phase, ...stops].join() };
    },
    wantsPerson,
    ended: (result) => ({ exitCode: exitCodeOfBatch(result), text: batchResultText(result) }),
  };
}

const STARTING =
  'checking every row; if this command is stopped, the batch may have been started: the same command again is safe';

const checksOf = ({ formatChecks }: CheckOptions): CheckOptions => ({ formatChecks });

const withStartOptions = (command: Command): Command =>
  withBatchOptions(
    withFormatChecks(command)
      .argument(
        '<path>',
        'CSV or NDJSON file below BATCH_DIR of the workers; -: rows as a JSON array on standard input',
      )
      .option('--id <batch_id>', "names the batch for ever (default: from the file's hash)")
      .option('--again', 'a batch that ended is run anew; rows that have an order are not paid twice')
      .option('--latest-send <time>', 'ISO time after which nothing new is sent'),
  );

function addPlanAndStart(batch: Command, io: StarterIo, verbs: Verbs): void {
  const plan = batch.command('plan').description('check every row and show what they would do; starts no order');
  verbs.add(withStartOptions(plan), async (connect, path: string, options: BatchStartOptions) => {
    const input = await readBatchInput(io, path, options);
    const { batches } = await connect();
    const planned = await whileShowing(io.stderr, 'checking every row', () => batches.plan(input, checksOf(options)));
    return { exitCode: EXIT.done, json: { plan: planned }, text: `${planText(planned)}\nnothing was started` };
  });
  const start = batch
    .command('start')
    .description('start a batch; without --wait, exit 0 means that Temporal accepted it')
    .option('--wait', 'follow it to its end or until a person has to decide');
  verbs.add(
    withTimeout(withStartOptions(start), 'with --wait: wait at most this long'),
    async (connect, path: string, options: BatchStartOptions & { wait?: true; timeout?: number }) => {
      const input = await readBatchInput(io, path, options);
      const orders = await connect();
      const started = () => orders.batches.start(input, checksOf(options));
      const handle = await whileShowing(io.stderr, STARTING, started);
      const batch = followed(io, handle, () => stopsOf(orders, [handle.account]));
      const report = await reportOfStart(batch);
      if (!options.wait) return report;
      print(io.stderr, `${report.text}\n`);
      return watch(io, batch, { timeoutMs: options.timeout });
    },
  );
}

/** Approves a plan. For the first of two signatures, it says what is missing. */
async function approveBatch(
  io: StarterIo,
  handle: BatchHandle,
  approval: BatchApproval,
  sign: SignOptions,
): Promise<Report> {
  await handle.approve(approval, sign);
  const waits = sign.signer && (await handle.state()).phase === 'awaitingApproval';
  const rest = waits ? '; it waits for that of a second person' : `; follow it: ${followLine(io.self, handle)}`;
  const { digest, by } = approval;
  return {
    exitCode: EXIT.done,
    json: { ...followed(io, handle).id, approved: digest, ...(waits && { waitsForSecond: true }) },
    text: `batch "${handle.batchId}" is approved by ${by}${rest}`,
  };
}

const isDone = (io: StarterIo, handle: BatchHandle, done: string): Report => ({
  exitCode: EXIT.done,
  json: { ...followed(io, handle).id, [done]: true },
  text: `batch "${handle.batchId}" is ${done}`,
});

/** Ends the pause that was shown. Without `--paused-at`, shows the pause instead. */
async function resumeBatch(
  io: StarterIo,
  handle: BatchHandle,
  instruction: BatchInstruction,
  sign: SignOptions,
): Promise<Report> {
  if (instruction.pausedAt === undefined) {
    const missing = '--paused-at is missing: look why it is paused, then resume as the command here says';
    return notDecided(await show(followed(io, handle)), missing);
  }
  await handle.resume(instruction, sign);
  return isDone(io, handle, 'resumed');
}

async function allRows(handle: BatchHandle): Promise<BatchRowEntry[]> {
  const all: BatchRowEntry[] = [];
  for (let cursor: string | undefined = '0'; cursor !== undefined; ) {
    const page: BatchRowPage = await handle.rows({ cursor, limit: MAX_ROW_PAGE });
    all.push(...page.rows);
    cursor = page.cursor;
  }
  return all;
}

/** Options of the verbs that instruct a batch. */
type ToldOptions = CommonOptions &
  BatchInstruction & { digest: string; key?: string; watch?: true; ndjson?: true; timeout?: number };

/** Adds the verbs of `batch`. */
export function addBatchVerbs(program: Command, io: StarterIo, verbs: Verbs): void {
  const batch = program
    .command('batch')
    .description('bulk withdrawals: plan, start, approve, pause, resume, stop, show, report, rows');
  addPlanAndStart(batch, io, verbs);
  const verb = (name: string, description: string): Command =>
    batch.command(name).description(description).argument('<batch_id>', 'the id that `batch start` printed');
  type ActOn = (handle: BatchHandle, options: ToldOptions, orders: PaymentOrders) => Promise<Report>;
  const add = (command: Command, act: ActOn): void =>
    verbs.add(command, async (connect, batchId: string, options: ToldOptions) => {
      const orders = await connect();
      return act(orders.batches.handle(batchId, { account: options.account }), options, orders);
    });
  const approve = verb('approve', 'approve exactly the plan with this digest')
    .requiredOption('--digest <digest>', 'of the plan, as `batch show` shows it')
    .requiredOption('--by <name>', 'who approves it; somebody else than its starter');
  add(withKey(approve), (handle, { digest, by, key }) => approveBatch(io, handle, { digest, by }, signerOf({ key })));
  const pause = verb('pause', 'start no more orders until resume; started ones go on');
  add(withReason(pause), async (handle, { by, reason }) => {
    await handle.pause({ by, reason });
    return isDone(io, handle, 'paused');
  });
  const resume = verb('resume', 'go on sending after the pause that was shown').option(
    '--paused-at <time>',
    'the pause that it ends, as `batch show` prints it',
  );
  add(withKey(withReason(resume)), (handle, { by, reason, pausedAt, key }) =>
    resumeBatch(io, handle, { by, reason, pausedAt }, signerOf({ key })),
  );
  const stop = verb('stop', 'start no more orders at all; started ones are followed to their end');
  add(withReason(stop), async (handle, { by, reason }) => {
    await handle.stop({ by, reason });
    return isDone(io, handle, 'stopped');
  });
  add(verb('report', 'print the report of an ended batch as CSV, wallets masked'), async (handle) => {
    const csv = await handle.report();
    const text = csv
      ? `${csv}`.trimEnd()
      : `batch "${handle.batchId}" has no report: nothing was sent, or no REPORT_DIR`;
    return { exitCode: EXIT.done, json: { ...followed(io, handle).id, report: csv ? text : null }, text };
  });
  const rows = verb('rows', 'every row and the state of its order').option('--ndjson', 'one JSON object a line');
  add(rows, async (handle, { ndjson }, orders) => {
    const all = await whileShowing(io.stderr, 'reading the rows', () => allRows(handle));
    const shown = { exitCode: EXIT.done, json: { ...followed(io, handle).id, rows: all } };
    if (ndjson) {
      for (const line of await stopsOf(orders, [handle.account])) print(io.stderr, `${line}\n`);
      return { ...shown, text: all.map((row) => JSON.stringify(row)).join('\n') };
    }
    return withStops({ ...shown, text: batchRowsText(all, io.stdout.columns) }, orders, [handle.account]);
  });
  const shown = verb('show', 'where a batch stands, or how it ended').option('--watch', 'follow it to its end');
  add(
    withTimeout(shown, 'with --watch: watch at most this long'),
    async (handle, { watch: isWatched, timeout }, orders) => {
      const batch = followed(io, handle, () => stopsOf(orders, [handle.account]));
      const report = isWatched ? watch(io, batch, { timeoutMs: timeout, toItsEnd: true }) : show(batch);
      return withStops(await report, orders, [handle.account]);
    },
  );
}
