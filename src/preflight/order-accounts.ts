import type { Client } from '@temporalio/client';
import { defaultPayloadConverter, type PayloadCodec } from '@temporalio/common';
import { quoted } from '../contract/names.js';
import { fingerprintOf, isSameAccount, type SentTo, type UsedAccount } from '../contract/order/sent-to.js';
import { encryptionCodec, GRPC, grpcStatus } from '../temporal.js';
import { sentToSchema } from '../validation/order-input.js';
import type { Asked, Finding } from './findings.js';

/** Maximum orders to inspect in all, and minimum per account. */
const [MOST, LEAST] = [20, 4];

/** An order that is open longer predates the keys of a worker that starts now. */
const LONG_MS = 60 * 60_000;

/** Newest events of an order, in which it last named its account. */
const EVENTS = 30;

type Run = { workflowId?: string | null; runId?: string | null };

/**
 * Compares the accounts of some orders with the present keys. A swapped key pays from another
 * account.
 */
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

/** Returns the newest orders of an account, open ones first, and some old open ones. */
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

/** Lists may show workflows that are already deleted. */
function unlessGone(error: unknown): { history?: undefined } {
  if (grpcStatus(error)?.code !== GRPC.notFound) throw error;
  return {};
}

/** Returns the account by an order's last request; undefined if there was none. */
async function sentToOf(
  { workflowService, options: { namespace } }: Client,
  execution: Run,
  codec: PayloadCodec,
): Promise<SentTo | undefined> {
  const asked = { namespace, execution, maximumPageSize: EVENTS };
  const { history } = await workflowService.getWorkflowExecutionHistoryReverse(asked).catch(unlessGone);
  for (const { activityTaskScheduledEventAttributes: scheduled } of history?.events ?? []) {
    // An unreadable payload fails the order's workflow tasks, which is visible.
    const [payload] = await codec.decode(scheduled?.input?.payloads ?? []).catch(() => []);
    const input = payload && defaultPayloadConverter.fromPayload<{ sentTo?: unknown } | null>(payload);
    const { data } = sentToSchema.safeParse(input?.sentTo);
    if (data) return data;
  }
  return undefined;
}
