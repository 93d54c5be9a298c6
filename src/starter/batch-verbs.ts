import type { Command } from 'commander';
import type { BatchHandle } from '../client/batches.js';
import type { SignOptions } from '../client/signing.js';
import type { PaymentOrders } from '../client.js';
import type { BatchApproval, BatchInstruction, BatchResult, BatchState } from '../contract/batch/batch.js';
import { print } from '../print.js';
import { type CommonOptions, signerOf, withBatchOptions, withKey, withReason, withTimeout } from './arguments.js';
import { batchCommands, batchResultText, batchStateText, followLine, planText } from './batch-text.js';
import { type FollowEnd, follow, look } from './follow.js';
import { type BatchStartOptions, readBatchInput } from './input.js';
import { startBatchView, whileShowing } from './progress.js';
import { EXIT, exitCodeOfBatch, goingOn, notDecided, type Report, type StarterIo, type Verbs } from './report.js';

type BatchEnd = FollowEnd<BatchState, BatchResult>;

/** What names a batch on every line of JSON. */
const idOf = ({ batchId, account, workflowId }: BatchHandle) => ({ batchId, account, workflowId });

function reportOfEnd(io: StarterIo, handle: BatchHandle, end: BatchEnd): Report {
  if (end.kind === 'ended') {
    const { result } = end;
    return { exitCode: exitCodeOfBatch(result), json: { ...idOf(handle), result }, text: batchResultText(result) };
  }
  const { state } = end;
  const commands = state ? batchCommands(io.self, handle.account, state) : '';
  const shown = state ? batchStateText(state, Date.now()) : `no worker answers; batch "${handle.batchId}" waits`;
  return {
    exitCode: EXIT.undecided,
    json: { ...idOf(handle), ...(state && { state }) },
    text: [shown, commands, 'the batch has not ended; never send its rows under other ids'].filter(Boolean).join('\n'),
  };
}

/** Where a batch stands, or how it ended. */
const showBatch = async (io: StarterIo, handle: BatchHandle): Promise<Report> =>
  reportOfEnd(io, handle, await look(handle));

const wantsPerson = (state: BatchState | undefined): boolean =>
  state?.phase === 'awaitingApproval' || state?.phase === 'paused';

/** Follows a batch with progress on stderr. */
async function watchBatch(
  io: StarterIo,
  handle: BatchHandle,
  { timeoutMs, isEnough }: { timeoutMs?: number; isEnough: (state: BatchState | undefined) => boolean },
): Promise<Report> {
  const says = `batch "${handle.batchId}" continues without this command; never send its rows under other ids. Follow it: ${followLine(io.self, handle)}`;
  return goingOn(io, says, async () => {
    const view = startBatchView(io.stderr);
    try {
      return reportOfEnd(io, handle, await follow(handle, { timeoutMs, isEnough, onState: view.show }));
    } finally {
      view.stop();
    }
  });
}

const MAY_HAVE_STARTED =
  'The batch may have been started; if so, it continues. The same command again is safe and shows it; never send its rows under other ids.';

/** Starts a batch and reports it. Until then, Temporal may have accepted the start without this command knowing it. */
function startBatch(io: StarterIo, orders: PaymentOrders, input: Parameters<PaymentOrders['batches']['start']>[0]) {
  return goingOn(io, MAY_HAVE_STARTED, async () => {
    const handle = await whileShowing(io.stderr, 'checking every row', () => orders.batches.start(input));
    return reportOfStart(io, handle);
  });
}

/** One that was there already is shown, as it may have ended long ago. */
async function reportOfStart(io: StarterIo, handle: BatchHandle) {
  const attached = handle.attached ?? false;
  if (attached && !(await handle.isOpen())) {
    const shown = await showBatch(io, handle);
    const text = `batch ${handle.batchId} ended before; --again runs it anew. Nothing was paid now, this is how it ended:\n${shown.text}`;
    return { handle, open: false, report: { ...shown, json: { ...shown.json, attached }, text } };
  }
  const what = attached ? 'was started before with the same input' : 'started';
  const report: Report = {
    exitCode: EXIT.done,
    json: { ...idOf(handle), attached },
    text: `batch "${handle.batchId}" ${what} (workflow ${handle.workflowId}); follow it: ${followLine(io.self, handle)}`,
  };
  return { handle, open: true, report };
}

const withStartOptions = (command: Command): Command =>
  withBatchOptions(
    command
      .argument(
        '<path>',
        'CSV or NDJSON file below BATCH_DIR of the workers; -: at most 200 rows, a JSON array on standard input',
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
    const planned = await whileShowing(io.stderr, 'checking every row', () => batches.plan(input));
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
      const { handle, open, report } = await startBatch(io, await connect(), input);
      if (!options.wait || !open) return report;
      print(io.stderr, `${report.text}\n`);
      return watchBatch(io, handle, { timeoutMs: options.timeout, isEnough: wantsPerson });
    },
  );
}

/** Approves a plan; of a signed approval, which may be the first of two, it says what is missing. */
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
    json: { ...idOf(handle), approved: digest, ...(waits && { waitsForSecond: true }) },
    text: `batch "${handle.batchId}" is approved by ${by}${rest}`,
  };
}

const isDone = (handle: BatchHandle, done: string): Report => ({
  exitCode: EXIT.done,
  json: { ...idOf(handle), [done]: true },
  text: `batch "${handle.batchId}" is ${done}`,
});

/** Ends the pause that was shown; without `--paused-at` it shows what there is to end. */
async function resumeBatch(
  io: StarterIo,
  handle: BatchHandle,
  instruction: BatchInstruction,
  sign: SignOptions,
): Promise<Report> {
  if (instruction.pausedAt === undefined) {
    const missing = '--paused-at is missing: look why it is paused, then resume as the command here says';
    return notDecided(await showBatch(io, handle), missing);
  }
  await handle.resume(instruction, sign);
  return isDone(handle, 'resumed');
}

/** Options of the verbs that tell a batch something; each verb has some of them. */
type ToldOptions = CommonOptions & BatchInstruction & { digest: string; key?: string; watch?: true; timeout?: number };

/** Adds `batch plan`, `start`, `approve`, `pause`, `resume`, `stop` and `show`. */
export function addBatchVerbs(program: Command, io: StarterIo, verbs: Verbs): void {
  const batch = program
    .command('batch')
    .description('bulk withdrawals: plan, start, approve, pause, resume, stop, show');
  addPlanAndStart(batch, io, verbs);
  const verb = (name: string, description: string): Command =>
    batch.command(name).description(description).argument('<batch_id>', 'the id that `batch start` printed');
  const add = (command: Command, act: (handle: BatchHandle, options: ToldOptions) => Promise<Report>): void =>
    verbs.add(command, async (connect, batchId: string, options: ToldOptions) =>
      act((await connect()).batches.handle(batchId, options), options),
    );
  const approve = verb('approve', 'approve exactly the plan with this digest')
    .requiredOption('--digest <digest>', 'of the plan, as `batch show` shows it')
    .requiredOption('--by <name>', 'who approves it; somebody else than its starter');
  add(withKey(approve), (handle, { digest, by, key }) => approveBatch(io, handle, { digest, by }, signerOf({ key })));
  const pause = verb('pause', 'start no more orders until resume; started ones go on');
  add(withReason(pause), async (handle, { by, reason }) => {
    await handle.pause({ by, reason });
    return isDone(handle, 'paused');
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
    return isDone(handle, 'stopped');
  });
  const show = verb('show', 'where a batch stands, or how it ended').option('--watch', 'follow it to its end');
  add(withTimeout(show, 'with --watch: watch at most this long'), (handle, { watch, timeout }) =>
    watch ? watchBatch(io, handle, { timeoutMs: timeout, isEnough: () => false }) : showBatch(io, handle),
  );
}
