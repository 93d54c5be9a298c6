import { Argument, Command, CommanderError } from 'commander';
import type { OrderFilter } from '../client/list-orders.js';
import type { PaymentOrders, StartOptions } from '../client.js';
import { DEFAULT_ACCOUNT } from '../contract/names.js';
import { ORDER_TYPES, type OrderType } from '../contract/order/types.js';
import { withoutWallets } from '../contract/shown-json.js';
import { maskWallets } from '../contract/wallets.js';
import { print, printJson } from '../print.js';
import { withVersion } from '../process.js';
import {
  type CommonOptions,
  handleOf,
  type OneOrderOptions,
  parseWhole,
  withFormatChecks,
  withOneOrder,
  withTimeout,
} from './arguments.js';
import { addBatchVerbs } from './batch-verbs.js';
import { addCheckVerb } from './check-verb.js';
import { addDecideVerb } from './decide-verb.js';
import { addEventVerbs } from './event-verbs.js';
import { addExportVerb } from './export-verb.js';
import { show, watch } from './follow.js';
import { addAuditVerb, addDoctorVerb, addReplayVerb } from './local-verbs.js';
import { followed, listOrders, readOrderInput, startOrder } from './order-verbs.js';
import { addReconcileVerb } from './reconcile-verb.js';
import { type Act, type Report, reportOfError, type StarterIo, type Verbs, withoutValue } from './report.js';
import { addScheduleVerbs } from './schedule-verbs.js';
import { addServiceVerbs } from './service-verbs.js';
import { addAccountVerbs, addHoldVerb } from './stop-verbs.js';
import { addViewsVerb } from './views-verb.js';

const EXIT_CODES = `
Exit codes:
  0  done (a partial order counts when its compensation is done)
  1  ended without success
  2  bad usage or input; nothing was sent
  3  Temporal cannot be reached
  4  not decided yet (uncertain, parked, waiting): never start it under another id`;

function addStart(order: Command, io: StarterIo, verbs: Verbs): void {
  const start = order
    .command('start')
    .description('start an order; without --wait, exit 0 means that Temporal accepted it')
    .addArgument(new Argument('<type>', 'order type').choices([...ORDER_TYPES]))
    .argument('<file>', 'JSON order input, - for standard input')
    .option('--wait', 'follow it to its end or until a person has to decide')
    .option('--again', 'the id was used by an order that ended without existing at the service: start it anew');
  type OrderStartOptions = CommonOptions & StartOptions & { wait?: true; timeout?: number };
  verbs.add(
    withFormatChecks(withTimeout(start, 'with --wait: wait at most this long')),
    async (connect, type: OrderType, file: string, options: OrderStartOptions) => {
      const { again, formatChecks, wait, timeout } = options;
      const input = await readOrderInput(io, type, file, options);
      const { handle, report } = await startOrder(io, await connect(), type, input, { again, formatChecks });
      if (!wait) return report;
      print(io.stderr, `${report.text}\n`);
      const end = await watch(io, followed(io, handle), { timeoutMs: timeout });
      // Lets a backend tell a new payment from an earlier one.
      return { ...end, json: { ...end.json, attached: handle.attached ?? false } };
    },
  );
}

function addOrderVerbs(program: Command, io: StarterIo, verbs: Verbs): void {
  const order = program.command('order').description('orders: check, start, show, wait, hold, decide, list, export');
  addStart(order, io, verbs);
  addCheckVerb(order, io, verbs);
  const shown = withOneOrder(order.command('show').description('where an order stands'));
  verbs.add(shown, async (connect, orderId: string, options: OneOrderOptions) =>
    show(followed(io, handleOf(await connect(), orderId, options))),
  );
  const wait = withOneOrder(order.command('wait').description('follow an order with progress'));
  type WaitedOptions = OneOrderOptions & { timeout?: number };
  verbs.add(withTimeout(wait, 'wait at most this long'), async (connect, orderId: string, options: WaitedOptions) =>
    watch(io, followed(io, handleOf(await connect(), orderId, options)), { timeoutMs: options.timeout }),
  );
  addDecideVerb(order, io, verbs);
  addHoldVerb(order, verbs);
  const list = order
    .command('list')
    .description('orders in Temporal, newest first')
    .option('--status <status>', 'open, uncertain, parked, terminated, none, unresolved or a final status')
    .option('--attention', 'only those a person should look at')
    .option('--batch <batch_id>', 'only those of a batch')
    .option('--reference <text>', 'only those with this reference')
    .option('--limit <n>', 'at most this many', parseWhole(1), 50);
  type ListOptions = CommonOptions &
    Pick<OrderFilter, 'status' | 'reference'> & { attention?: true; batch?: string; limit: number };
  verbs.add(list, async (connect, { account, status, attention, batch, reference, limit }: ListOptions) =>
    listOrders(io, await connect(), { account, status, needsAttention: attention, batchId: batch, reference, limit }),
  );
  addExportVerb(order, io, verbs);
}

function buildProgram(io: StarterIo, run: (act: Act, typed: never[]) => Promise<void>): Command {
  const program = withVersion(new Command('payment-orders'), (text) => print(io.stdout, text))
    .description(
      'Starts, shows and decides payment orders. Talks to Temporal (TEMPORAL_*) and holds no secret; `doctor` alone reads those of a worker.',
    )
    .addHelpText('after', EXIT_CODES)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => print(io.stdout, text),
      writeErr: (text) => print(io.stderr, text),
      outputError: (text, write) => write(maskWallets(withoutValue(text))),
    });
  const verbs: Verbs = {
    add: (command, act) =>
      verbs.addLocal(
        command.option(
          '--account <name>',
          `service account (default: ${DEFAULT_ACCOUNT}; lists of orders and events: all)`,
        ),
        act,
      ),
    addLocal: (command, act) =>
      void command
        .option('--json', 'print exactly one JSON object')
        .option('--show-wallets', 'with --json: wallets, payees and clients in full')
        .action((...typed) => run(act, typed as never[])),
  };
  addOrderVerbs(program, io, verbs);
  addBatchVerbs(program, io, verbs);
  addScheduleVerbs(program, io, verbs);
  addServiceVerbs(program, io, verbs);
  addAccountVerbs(program, io, verbs);
  addEventVerbs(program, io, verbs);
  addReconcileVerb(program, io, verbs);
  addAuditVerb(program, verbs);
  addViewsVerb(program, verbs);
  addReplayVerb(program, io, verbs);
  addDoctorVerb(program, io, verbs);
  return program;
}

/** Runs one command line (without node and script) and returns the exit code. Never throws. */
export async function runStarter(argv: readonly string[], io: StarterIo): Promise<number> {
  const json = argv.includes('--json');
  let exitCode = 0;
  const show = (report: Report, stream = io.stdout): void => {
    exitCode = report.exitCode;
    const shown = argv.includes('--show-wallets') ? report.json : withoutWallets(report.json);
    if (json) printJson(io.stdout, shown);
    else if (report.text !== '') print(stream, `${report.text}\n`);
  };
  let connection: Promise<PaymentOrders> | undefined;
  const connect = () => {
    connection ??= io.connect();
    return connection;
  };
  try {
    await buildProgram(io, async (act, typed) => show(await act(connect, ...typed))).parseAsync(argv, { from: 'user' });
  } catch (error) {
    const report = reportOfError(error);
    // Commander has already printed its message, and requested help is no error.
    if (!(error instanceof CommanderError)) show(report, io.stderr);
    else if (json && report.exitCode !== 0) show(report);
    else exitCode = report.exitCode;
  }
  // A failed connection has already been reported.
  await connection?.then((orders) => orders.close()).catch(() => undefined);
  return exitCode;
}
