import { Argument, type Command } from 'commander';
import { reportOfBadInput } from '../client/check-order.js';
import type { StartOptions } from '../client.js';
import type { OrderCheck } from '../contract/order/messages.js';
import { ORDER_TYPES, type OrderType } from '../contract/order/types.js';
import { type CommonOptions, withFormatChecks } from './arguments.js';
import { readOrderInput } from './order-verbs.js';
import { whileShowing } from './progress.js';
import { type Connect, EXIT, type StarterIo, type Verbs } from './report.js';
import { named } from './text.js';

type CheckVerbOptions = CommonOptions & StartOptions;

/** Adds `order check`, the dry run of orders. */
export function addCheckVerb(order: Command, io: StarterIo, verbs: Verbs): void {
  const check = order
    .command('check')
    .description('say what a start would do, and start nothing; exit 0 if every order would be sent')
    .addArgument(new Argument('<type>', 'order type').choices([...ORDER_TYPES]))
    .argument('<file...>', 'JSON order inputs, - for standard input')
    .option('--again', 'as for a start with --again');
  verbs.add(withFormatChecks(check), async (connect, type: OrderType, files: string[], options: CheckVerbOptions) => {
    const checks: OrderCheck[] = [];
    for (const file of files) checks.push(await checkFile(io, connect, type, file, options));
    return {
      exitCode: checks.every(({ wouldBeSent }) => wouldBeSent) ? EXIT.done : EXIT.endedWithoutSuccess,
      json: { checks },
      text: checks.map(checkText).join('\n\n'),
    };
  });
}

async function checkFile(
  io: StarterIo,
  connect: Connect,
  type: OrderType,
  file: string,
  options: CheckVerbOptions,
): Promise<OrderCheck> {
  try {
    const input = await readOrderInput(io, type, file, options);
    const { again, formatChecks } = options;
    const ask = async () => (await connect()).check(type, input, { again, formatChecks });
    return await whileShowing(io.stderr, 'waiting for a worker and the payment service', ask);
  } catch (error) {
    return reportOfBadInput(error, options);
  }
}

const money = (one: { currency: string; amount: string } | undefined): string | undefined =>
  one && `${one.amount} ${one.currency}`;

/** Returns the report of one order as text. */
function checkText(report: OrderCheck): string {
  const { limits, fees, leaves, arrives, estimated, id, atService } = report;
  const about = estimated ? 'about ' : '';
  const balances = (leaves ?? []).map(({ currency, balanceBefore, balanceAfter, shortfall }) =>
    balanceBefore === null
      ? `${currency} not known`
      : `${balanceBefore} → ${balanceAfter} ${currency}${shortfall ? `, ${shortfall} missing` : ''}`,
  );
  return named([
    ['order', report.orderId],
    ['would be sent', report.wouldBeSent ? 'yes' : 'no'],
    ...report.reasons.map((reason) => ['because', reason] as const),
    ['id', id && `${id.state}; at the service: ${atService?.state}`],
    ['limits', limits && `${limits.min} to ${limits.max ?? 'no maximum'} ${limits.currency}`],
    ['commission', fees?.map((fee) => `${about}${money(fee)}, paid by the ${fee.payer}`).join('; ')],
    ['leaves', leaves?.map((one) => `${about}${money(one)}`).join('; ')],
    ['arrives', arrives && `${about}${money(arrives)}`],
    ['balance', balances.join('; ')],
    ...(report.warnings ?? []).map((warning) => ['warning', warning] as const),
    ...(report.unknown ?? []).map((what) => ['not known', what] as const),
  ]);
}
