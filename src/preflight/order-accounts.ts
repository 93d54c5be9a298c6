import type { Client } from '@temporalio/client';
import { defaultPayloadConverter, type PayloadCodec } from '@temporalio/common';
import { quoted } from '../contract/names.js';
import { fingerprintOf, isSameAccount, type SentTo, type UsedAccount } from '../contract/order/sent-to.js';
import { encryptionCodec, GRPC, grpcStatus } from '../temporal.js';
import { sentToSchema } from '../validation/order-input.js';
import type { Asked, Finding } from './findings.js';

/** Orders that are looked at, of all accounts together, and at least of each. */
const [MOST, LEAST] = [20, 4];

/** An order that is open for longer was sent before the keys were changed that a worker starts with now. */
const LONG_MS = 60 * 60_000;

/** The newest events of an order, among which it last said where it was sent to. */
const EVENTS = 30;

type Run = { workflowId?: string | null; runId?: string | null };

/** Compares where some orders of each account were sent to with its present key: one under another's name pays from there. */
export async function orderAccountFindings(
  client: Client,
  { config, accounts = new Map() }: Asked,
): Promise<readonly Finding[]> {
  const perAccount = Math.max(LEAST, Math.floor(MOST / Math.max(1, accounts.size)));
  const codec = encryptionCodec(config.encryptionKeys);
  const found = [...accounts.values()].map(async (here) => {
    const runs = await someOrders(client, here.name, perAccount);
    return ofAccount(here, await Promise.all(runs.map((run) => sentToOf(client, run, codec))));
  });
  return (await Promise.all(found)).flat();
}

function ofAccount(here: UsedAccount, sent: readonly (SentTo | undefined)[]): Finding[] {
  const others = sent.flatMap((pin) => (pin && !isSameAccount(pin, here) ? [pin.account] : []));
  const [first] = others;
  if (!first) return [];
  const { name: account, id } = here;
  const differs = `account ${account}: of ${sent.length} orders that were looked at, ${others.length} were sent to another account (${first}, and this worker uses ${id})`;
  const rotated = `If its key was rotated, list ${fingerprintOf(first)} as a predecessor (PAYMENT_API_KEY_PREDECESSORS, or apiKeyPredecessors in the accounts file)`;
  const text = `${differs}. ${rotated}. Otherwise stop the workers before they pay from the wrong account, and compare keys and base URLs of PAYMENT_ACCOUNTS_FILE with the accounts' names; an account that is new gets a new name`;
  return [{ check: 'order-accounts', level: 'error', account, text }];
}

/** The newest orders of an account, open ones first, and some that have been open for long. */
async function someOrders(
  { workflowService, options: { namespace } }: Client,
  account: string,
  most: number,
): Promise<Run[]> {
  const ours = `WorkflowId STARTS_WITH ${quoted(`order:${account}:`)}`;
  const before = new Date(Date.now() - LONG_MS).toISOString();
  const queries = [ours, `${ours} AND ExecutionStatus = 'Running' AND StartTime < '${before}'`];
  const pageSize = Math.ceil(most / queries.length);
  const lists = queries.map((query) => workflowService.listWorkflowExecutions({ namespace, pageSize, query }));
  const runs = (await Promise.all(lists)).flatMap(({ executions }) => executions ?? []);
  return [...new Map(runs.flatMap(({ execution }) => (execution ? [[execution.runId, execution]] : []))).values()];
}

/** Lists show for a while what is kept no more. */
function unlessGone(error: unknown): { history?: undefined } {
  if (grpcStatus(error)?.code !== GRPC.notFound) throw error;
  return {};
}

/** Where an order was sent to, as its last question about itself says; undefined where it has asked none. */
async function sentToOf(
  { workflowService, options: { namespace } }: Client,
  execution: Run,
  codec: PayloadCodec,
): Promise<SentTo | undefined> {
  const asked = { namespace, execution, maximumPageSize: EVENTS };
  const { history } = await workflowService.getWorkflowExecutionHistoryReverse(asked).catch(unlessGone);
  for (const { activityTaskScheduledEventAttributes: scheduled } of history?.events ?? []) {
    // What cannot be read here fails its order's workflow tasks, which shows by itself.
    const [payload] = await codec.decode(scheduled?.input?.payloads ?? []).catch(() => []);
    const input = payload && defaultPayloadConverter.fromPayload<{ sentTo?: unknown } | null>(payload);
    const { data } = sentToSchema.safeParse(input?.sentTo);
    if (data) return data;
  }
  return undefined;
}
