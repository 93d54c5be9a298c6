import { type Command, Option } from 'commander';
import type { DecideAllInput, DecideAllPlan, DecideAllResult, NotDecided } from '../client/decide-all.js';
import type { SignOptions } from '../client/signing.js';
import type { PaymentOrders } from '../client.js';
import { ATTENTION_CODES } from '../contract/attention.js';
import { DECIDE_ACTIONS } from '../contract/order/messages.js';
import { FOLLOW_UP_TYPES } from '../contract/order/types.js';
import { MAX_SIGNED_TOGETHER } from '../contract/signature.js';
import {
  type CommonOptions,
  fitting,
  given,
  handleOf,
  type OneOrderOptions,
  parseNames,
  parseRun,
  parseWhole,
  signerOf,
  withKey,
  withOneOrder,
} from './arguments.js';
import { decideOrder, readDecisionFile, type TypedDecision } from './order-verbs.js';
import { whileShowing } from './progress.js';
import { EXIT, goingOn, notDecided, type Report, type StarterIo, UsageError, type Verbs } from './report.js';
import { headed, named } from './text.js';

/** Options that say what one order is decided on. */
type OneOptions = Omit<TypedDecision, 'runId' | 'order_uuid' | 'revertTo' | 'wallet_details'> & {
  run?: string;
  orderUuid?: string;
  file?: string;
};

/** Options for all orders that ask for a person for one reason. */
type AllOptions = Pick<DecideAllInput, 'code'> & { dryRun?: true; yes?: true; digest?: string };

type DecideOptions = OneOrderOptions & OneOptions & Partial<AllOptions> & { all?: true; key?: string };

/** Adds `order decide`, for one order or for all that ask for the same reason. */
export function addDecideVerb(order: Command, io: StarterIo, verbs: Verbs): void {
  const decide = withKey(withOneOrder(order.command('decide'), '[order_id]'))
    .description(
      'decide on a parked order, on what `order show` shows: with its --revision and its --run, or nothing is decided. With --all: on all of an account that ask for the same reason',
    )
    .addOption(new Option('--action <action>').choices([...DECIDE_ACTIONS]).makeOptionMandatory())
    .requiredOption('--by <name>', 'who decides')
    .requiredOption('--reason <text>', 'why')
    .option('--revision <n>', 'the revision the decision is based on', parseWhole(0))
    .option('--run <id>', 'the run that showed it: a reset counts revisions anew', parseRun)
    .option('--amount <amount>', 'approve: the amount that `order show` shows')
    .option('--currency <currency>', 'approve: its currency')
    .option('--order-uuid <uuid>', 'adopt: the order to follow')
    .option(
      '--differences <fields>',
      'adopt: the fields in which it differs, exactly, such as wallet,amount',
      parseNames,
    )
    .addOption(new Option('--kind <kind>', 'finish, revert: which remainder').choices(['unexchanged', 'unpaid']))
    .addOption(new Option('--as <type>', 'finish, revert: type of the follow-up').choices([...FOLLOW_UP_TYPES]))
    // Wallets never stand on a command line: others on the machine can read it, and shells keep it.
    .option('--file <file>', 'finish, revert: JSON {"revertTo", "wallet_details"}, - for standard input')
    .option('--all', `the ${MAX_SIGNED_TOGETHER} oldest orders of the account that ask for the reason of --code`)
    .addOption(new Option('--code <code>', '--all: why they ask for a person').choices([...ATTENTION_CODES]))
    .option('--dry-run', '--all: show what would be decided, and decide nothing')
    .option('--yes', '--all: decide whatever is found')
    .option('--digest <sha256>', '--all: decide if the list is the one that was shown', parseDigest);
  verbs.addChecked(decide, async (run, orderId: string | undefined, options: DecideOptions) => {
    const { all, code } = options;
    if (!all && orderId !== undefined && Object.keys(allOptions(options)).length === 0) {
      const decision = await decisionOf(io, options);
      const sign = signerOf(options);
      await run((orders) => decideOrder(io, handleOf(orders, orderId, options), decision, sign));
      return;
    }
    if (!all || code === undefined || orderId !== undefined || Object.keys(oneOptions(options)).length > 0) {
      throw new UsageError('name either one order, or --all with --code, and the options of that alone');
    }
    const sign = signerOf(options);
    await run((orders) => decideAll(io, orders, { ...options, code }, sign));
  });
}

const parseDigest = fitting(/^[0-9a-f]{64}$/, 'It must be the digest that the list ends with.');

const allOptions = ({ code, dryRun, yes, digest }: DecideOptions) => given({ code, dryRun, yes, digest });

const oneOptions = (options: DecideOptions) => {
  const { received, afterEnd, revision, run, amount, currency, orderUuid, differences, kind, as, file } = options;
  return given({ received, afterEnd, revision, run, amount, currency, orderUuid, differences, kind, as, file });
};

async function decisionOf(io: StarterIo, options: OneOptions): Promise<TypedDecision> {
  const {
    action,
    by,
    reason,
    revision,
    run: runId,
    amount,
    currency,
    orderUuid,
    differences,
    kind,
    as,
    file,
  } = options;
  const fromFile = file === undefined ? {} : await readDecisionFile(io, file);
  const optional = given({ runId, amount, currency, order_uuid: orderUuid || undefined, differences, kind, as });
  return { action, by, reason, revision, ...optional, ...fromFile };
}

/** Shows what would be decided; decides it once a person has confirmed the list. */
async function decideAll(
  io: StarterIo,
  orders: PaymentOrders,
  { account, code, action, by, reason, dryRun, yes, digest }: CommonOptions & OneOptions & AllOptions,
  sign: SignOptions,
): Promise<Report> {
  const plan = await whileShowing(io.stderr, 'looking for orders', (show) =>
    orders.planDecisions({ account, code, action, by, reason }, (done, of) =>
      show(`looked at ${done} of ${of} orders`),
    ),
  );
  const text = planText(plan, action, io.stdout.columns);
  const shown: Report = { exitCode: EXIT.done, json: { plan }, text };
  if (dryRun || (plan.orders.length === 0 && !digest)) return shown;
  if (digest === undefined && !yes) {
    return notDecided(shown, `nothing was decided: repeat it with --digest ${plan.digest} to decide this very list`);
  }
  if (digest !== undefined && digest !== plan.digest) {
    return notDecided(shown, 'nothing was decided: the list is no longer the one with that --digest');
  }
  const says = 'what was decided so far stands; the same command again decides the rest';
  const result = await goingOn(io, says, () =>
    whileShowing(io.stderr, 'deciding', (show) =>
      orders.decideAll(plan, sign, (done, of) => show(`${done} of ${of} orders decided`)),
    ),
  );
  const isDone = result.refused.length + result.open.length === 0;
  return {
    exitCode: isDone ? EXIT.done : EXIT.undecided,
    json: { plan, result },
    text: `${text}\n\n${resultText(result)}`,
  };
}

const left = (all: readonly NotDecided[]): string[] => all.map(({ orderId, why }) => `  ${orderId}: ${why}`);

function planText(plan: DecideAllPlan, action: string, columns?: number): string {
  const { account, orders, does, amounts, withoutAmount, more, digest } = plan;
  const rows = orders.map(({ since, orderId, received, amount = '' }) => [
    `${since.toISOString().slice(0, 19)}Z`,
    `${orderId}${received ? ' (received)' : ''}`,
    amount,
  ]);
  const sums = Object.entries(amounts).map(([currency, amount]) => `${amount} ${currency}`);
  return [
    named([
      ['account', account],
      ['orders', `${orders.length}${more > 0 ? `, the oldest; ${more} more ask for the same reason` : ''}`],
      ['decision', `${action}: ${does.join('; or ')}`],
      ['sum', sums.join(', ')],
      ['no amount', withoutAmount > 0 ? `${withoutAmount} orders` : ''],
    ]),
    ...(rows.length > 0 ? [headed(['since', 'order', 'amount'], rows, columns)] : []),
    ...(plan.left.length > 0 ? [`left out, ${plan.left.length} orders:`, ...left(plan.left)] : []),
    ...(orders.length > 0 ? [named([['digest', digest]])] : []),
  ].join('\n');
}

const resultText = ({ decided, refused, gone, open }: DecideAllResult): string =>
  [
    `decided: ${decided.length} orders`,
    ...(refused.length > 0 ? [`refused: ${refused.length} orders, which stand as they stood`, ...left(refused)] : []),
    ...(gone.length > 0 ? [`gone: ${gone.length} orders ended before: ${gone.join(', ')}`] : []),
    ...(open.length > 0
      ? [`no answer: ${open.length} orders, which may have taken it; look again`, ...left(open)]
      : []),
  ].join('\n');
