import type { Command } from 'commander';
import { type Instruction, whyStopped } from '../client/accounts.js';
import { callTemporal } from '../client/temporal-calls.js';
import type { PaymentOrders } from '../client.js';
import { handleOf, type OneOrderOptions, signerOf, withKey, withOneOrder, withReason } from './arguments.js';
import { EXIT, type Report, type StarterIo, type Verbs } from './report.js';
import { rowsText, stateText } from './text.js';

type InstructionOptions = Instruction & { key?: string };

/** Adds `account`: stop, resume, list. */
export function addAccountVerbs(program: Command, { stdout }: StarterIo, verbs: Verbs): void {
  const account = program.command('account').description('stop all creates of an account, and resume them');
  const add = (name: 'stop' | 'resume', description: string, told: string): void => {
    const command = account.command(name).description(description).argument('<name>', 'the account');
    verbs.addLocal(withKey(withReason(command)), async (connect, of: string, options: InstructionOptions) => {
      const { by, reason, key } = options;
      const { accounts } = await connect();
      await accounts[name](of, { by, reason }, signerOf({ key }));
      const { stop } = await accounts.state(of);
      const json = { account: of, stopped: stop !== undefined, ...(stop && { stop }) };
      return { exitCode: EXIT.done, json, text: `account ${of} ${told}` };
    });
  };
  const stops = 'is stopped: no create is sent from 2 s on. Its orders wait; look-ups continue';
  add('stop', 'send no create of the account until `account resume`; orders wait', stops);
  add('resume', 'end a stop: waiting orders go on by themselves', 'sends again: its orders go on by themselves');
  verbs.addLocal(account.command('list').description('stopped accounts'), async (connect): Promise<Report> => {
    const stopped = await (await connect()).accounts.stopped();
    const text = rowsText(
      ['account', 'at', 'by', 'reason'],
      stopped.map((one) => ({ ...one })),
      stdout.columns,
    );
    return { exitCode: EXIT.done, json: { stopped }, text: stopped.length > 0 ? text : 'no account is stopped' };
  });
}

/** Adds `order hold`. */
export function addHoldVerb(order: Command, verbs: Verbs): void {
  const hold = order.command('hold').description('hold an order that is not sent yet; then decide release or refuse');
  type HoldOptions = OneOrderOptions & InstructionOptions;
  verbs.add(withKey(withReason(withOneOrder(hold))), async (connect, orderId: string, options: HoldOptions) => {
    const { by, reason, key } = options;
    const handle = handleOf(await connect(), orderId, options);
    const held = await handle.hold({ by, reason }, signerOf({ key }));
    // The answer is older than the effect of the hold.
    const state = await handle.state().catch(() => held);
    const { account } = handle;
    return { exitCode: EXIT.done, json: { orderId, account, held: true, state }, text: stateText(handle, state) };
  });
}

/** Returns which of the accounts send nothing now, and why. */
export async function stopsOf({ client }: PaymentOrders, accounts: Iterable<string>): Promise<string[]> {
  const stopOf = async (account: string) => {
    const why = await whyStopped(client, account);
    return why ? [`account ${account} sends no create: ${why}`] : [];
  };
  return (await callTemporal(client, () => Promise.all([...new Set(accounts)].map(stopOf)))).flat();
}

/** Adds to a report which of the accounts send nothing now, and why. */
export async function withStops(report: Report, orders: PaymentOrders, accounts: Iterable<string>): Promise<Report> {
  const stops = await stopsOf(orders, accounts);
  if (stops.length === 0) return report;
  return { ...report, json: { ...report.json, stops }, text: [report.text, ...stops].join('\n') };
}
