import { type Command, Option } from 'commander';
import type { DecideAllInput, DecideAllPlan, DecideAllResult, NotDecided } from '../client/decide-all.js';
import type { SignOptions } from '../client/signing.js';
import type { PaymentOrders } from '../client.js';
import { ATTENTION_CODES, decideOne } from '../contract/attention.js';
import { parseReceivedWorkflowId } from '../contract/names.js';
import { DECIDE_ACTIONS } from '../contract/order/messages.js';
import { FOLLOW_UP_TYPES } from '../contract/order/types.js';
import { MAX_SIGNED_TOGETHER } from '../contract/signature.js';
import { given, handleOf, type OneOrderOptions, parseWhole, signerOf, withKey, withOneOrder } from './arguments.js';
import { decideOrder, readDecisionFile, type TypedDecision } from './order-verbs.js';
import { whileShowing } from './progress.js';
import { EXIT, notDecided, type Report, type StarterIo, UsageError, type Verbs } from './report.js';
import { headed, named } from './text.js';

/** Options for a decision on one order. */
type OneOptions = Pick<TypedDecision, 'revision' | 'amount' | 'currency' | 'kind' | 'as'> & {
  run?: string;
  orderUuid?: string;
  differences?: string;
  file?: string;
};

type DecideOptions = OneOrderOptions &
  OneOptions &
  Pick<DecideAllInput, 'action' | 'by' | 'reason'> &
  Partial<Pick<DecideAllInput, 'code'>> & { all?: true; dryRun?: true; digest?: string; key?: string };

/** Adds `order decide`, for one order or for all with the same reason. */
export function addDecideVerb(order: Command, io: StarterIo, verbs: Verbs): void {
  const decide = withKey(withOneOrder(order.command('decide'), '[order_id]'))
    .description(
      'decide on a parked order, on what `order show` shows: with its --revision and its --run, or nothing is decided. With --all: on all of an account that ask for the same reason',
    )
    .addOption(new Option('--action <action>').choices([...DECIDE_ACTIONS]).makeOptionMandatory())
    .requiredOption('--by <name>', 'who decides')
    .requiredOption('--reason <text>', 'why')
    .option('--revision <n>', 'the revision the decision is based on', parseWhole(0))
    .option('--run <id>', 'the run that showed it: a reset counts revisions anew')
    .option('--amount <amount>', 'approve: the amount that `order show` shows')
    .option('--currency <currency>', 'approve: its currency')
    .option('--order-uuid <uuid>', 'adopt: the order to follow')
    .option('--differences <fields>', 'adopt: the fields in which it differs, exactly, such as wallet,amount')
    .addOption(new Option('--kind <kind>', 'finish, revert: which remainder').choices(['unexchanged', 'unpaid']))
    .addOption(new Option('--as <type>', 'finish, revert: type of the follow-up').choices([...FOLLOW_UP_TYPES]))
    // Other users can read command lines, and shells store them.
    .option('--file <file>', 'finish, revert: JSON {"revertTo", "wallet_details"}, - for standard input')
    .option('--all', `the ${MAX_SIGNED_TOGETHER} oldest orders of the account that ask for the reason of --code`)
    .addOption(new Option('--code <code>', '--all: why they ask for a person').choices([...ATTENTION_CODES]))
    .option('--dry-run', '--all: only show the list, as without --digest')
    .option('--digest <sha256>', '--all: decide, if the list is still the one that was shown without this option');
  verbs.add(decide, async (connect, orderId: string | undefined, options: DecideOptions) => {
    const { all, code, dryRun, digest, account, action, by, reason, key, json: _, showWallets: __, ...ofOne } = options;
    if (!all && orderId !== undefined && (code ?? dryRun ?? digest) === undefined) {
      const decision = await decisionOf(io, options);
      const sign = signerOf({ key });
      return decideOrder(io, handleOf(await connect(), orderId, options), decision, sign);
    }
    if (!all || code === undefined || orderId !== undefined || Object.keys(ofOne).length > 0) {
      throw new UsageError('name either one order, or --all with --code, and the options of that alone');
    }
    const sign = signerOf({ key });
    return decideAll(io, await connect(), { account, code, action, by, reason }, dryRun ? undefined : digest, sign);
  });
}

async function decisionOf(io: StarterIo, options: DecideOptions): Promise<TypedDecision> {
  const { action, by, reason, revision, run: runId, amount, currency, orderUuid, kind, as, file } = options;
  const fromFile = file === undefined ? {} : await readDecisionFile(io, file);
  const differences = options.differences?.split(',').flatMap((name) => name.trim() || []);
  const optional = given({ runId, amount, currency, order_uuid: orderUuid || undefined, differences, kind, as });
  return { action, by, reason, revision, ...optional, ...fromFile };
}

/** Shows what would be decided. Decides after a person has confirmed the list by its digest. */
async function decideAll(
  io: StarterIo,
  orders: PaymentOrders,
  input: DecideAllInput,
  digest: string | undefined,
  sign: SignOptions,
): Promise<Report> {
  const plan = await whileShowing(io.stderr, 'looking for orders', () => orders.planDecisions(input));
  const text = planText(plan, input, io.stdout.columns);
  const shown: Report = { exitCode: EXIT.done, json: { plan }, text };
  if (digest === undefined) return { ...shown, text: `${text}\nnothing was decided; --digest decides this very list` };
  if (digest !== plan.digest) {
    return notDecided(shown, 'nothing was decided: the list is no longer the one with that --digest');
  }
  const says = 'deciding; what is decided stands, and the same command without --digest shows the rest';
  const result = await whileShowing(io.stderr, says, () => orders.decideAll(plan, sign));
  const isDone = result.refused.length + result.open.length === 0;
  return {
    exitCode: isDone ? EXIT.done : EXIT.undecided,
    json: { plan, result },
    text: `${text}\n\n${resultText(result)}`,
  };
}

const left = (all: readonly NotDecided[]): string[] => all.map(({ orderId, why }) => `  ${orderId}: ${why}`);

function planText(plan: DecideAllPlan, input: DecideAllInput, columns?: number): string {
  const { action, code } = input;
  const { account, orders, does, amounts, withoutAmount, more, digest } = plan;
  const rows = orders.map(({ since, orderId, workflowId, moves = '' }) => [
    `${since.toISOString().slice(0, 19)}Z`,
    `${orderId}${parseReceivedWorkflowId(workflowId) ? ' (received)' : ''}`,
    moves,
  ]);
  if (orders.length + plan.left.length === 0) return `no order of account ${account} asks for ${code}`;
  const isResend = action === 'resend' && code === 'uncertain-create';
  const advice = isResend ? decideOne(orders.map(({ orderId }) => orderId)) : undefined;
  const warned = orders.flatMap(({ orderId, warnings }) => (warnings ? [{ orderId, why: warnings.join('; ') }] : []));
  const sums = Object.entries(amounts).map(([currency, amount]) => `${amount} ${currency}`);
  return [
    named([
      ['account', account],
      ['orders', `${orders.length}${more > 0 ? `, the oldest; ${more} more ask for the same reason` : ''}`],
      ['decision', `${action}: ${does.join('; or ')}`],
      ['sum', sums.join(', ')],
      ['unknown amount', withoutAmount > 0 ? `${withoutAmount} orders` : ''],
    ]),
    ...(rows.length > 0 ? [headed(['since', 'order', 'moves'], rows, columns)] : []),
    ...(warned.length > 0 ? [`warnings, ${warned.length} orders:`, ...left(warned)] : []),
    ...(advice ? [advice] : []),
    ...(plan.left.length > 0 ? [`left out, ${plan.left.length} orders:`, ...left(plan.left)] : []),
    ...(orders.length > 0 ? [named([['digest', digest]])] : []),
  ].join('\n');
}

const resultText = ({ decided, refused, open }: DecideAllResult): string =>
  [
    `decided: ${decided.length} orders`,
    ...(refused.length > 0 ? [`refused: ${refused.length} orders, which stand as they stood`, ...left(refused)] : []),
    ...(open.length > 0
      ? [`no answer: ${open.length} orders, which may have taken it; look again`, ...left(open)]
      : []),
  ].join('\n');
