import { createHash } from 'node:crypto';
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { executionInfoFromRaw } from '@temporalio/client/lib/helpers.js';
import { quoted, quotedTime, RECONCILE_WORKFLOW } from '../contract/names.js';
import { GRPC, grpcStatus } from '../temporal.js';
import type { WaitOptions } from './bounded.js';
import { InvalidInputError } from './errors.js';
import { callTemporal } from './temporal-calls.js';

/** Returns true for a run whose newer run, if there is one, is to be listed in its place. */
export type IsDoubtful = (info: WorkflowExecutionInfo) => boolean;

/** One page of runs. The last one has no token. */
interface RunPage {
  runs: WorkflowExecutionInfo[];
  /** Doubtful runs that have a newer run. */
  superseded: WorkflowExecutionInfo[];
  token?: Uint8Array | undefined;
}

/** UNKNOWN is how Temporal masks errors of its own. */
const BAD_TOKEN = [GRPC.invalidArgument, GRPC.unknown];

/** Maximum page of Temporal. */
export const MAX_PAGE = 1_000;

/** Reads one page of runs, newest first. */
export async function readPage(
  client: Client,
  {
    query,
    pageSize,
    token,
    field,
  }: { query: string; pageSize: number; token?: Uint8Array | undefined; field?: string },
  isDoubtful: IsDoubtful,
): Promise<RunPage> {
  return callTemporal(client, async () => {
    const { runs: infos, token: next } = await listRuns(client, { query, pageSize, token }).catch((error: unknown) => {
      // Temporal answers a forged token with either status.
      const isBad = token && BAD_TOKEN.some((code) => code === grpcStatus(error)?.code);
      throw isBad ? badCursor(field) : error;
    });
    const superseded = await supersededRuns(client, infos.filter(isDoubtful));
    const runs = infos.filter(({ runId }) => !superseded.has(runId));
    const left = infos.filter(({ runId }) => superseded.has(runId));
    return { runs, superseded: left, ...(next && { token: next }) };
  });
}

/**
 * Returns one page of a list as Temporal shows it; the last one has no token. Memos are left out:
 * they are not ours, and one that is unreadable would hide all runs after it.
 */
export async function listRuns(
  client: Client,
  { query, pageSize, token }: { query: string; pageSize: number; token?: Uint8Array | undefined },
): Promise<{ runs: WorkflowExecutionInfo[]; token?: Uint8Array }> {
  const { namespace, loadedDataConverter } = client.options;
  const request = { namespace, query, pageSize, nextPageToken: token };
  const { executions, nextPageToken } = await client.workflowService.listWorkflowExecutions(request);
  const runs = (executions ?? []).map((raw) =>
    executionInfoFromRaw(Object.assign(raw, { memo: null }), loadedDataConverter, raw, namespace),
  );
  return { runs: await Promise.all(runs), ...(nextPageToken?.length && { token: nextPageToken }) };
}

/** Binds a cursor's content to its list. A damaged token would be an error of the server. */
const sealOf = (content: Uint8Array, list: string): string =>
  createHash('sha256').update(list).update(content).digest('base64url').slice(0, 12);

/** Returns the cursor of a list with this content. */
export const cursorOf = (content: Uint8Array, list: string): string =>
  `${sealOf(content, list)}.${Buffer.from(content).toString('base64url')}`;

/** Returns the error of a cursor that is not one of this list. */
export const badCursor = (field = 'cursor'): InvalidInputError =>
  new InvalidInputError([{ field, reason: 'must be the cursor of the page before, with the same filters' }]);

/** Returns a cursor's content. Throws InvalidInputError for the cursor of another list. */
export function contentOf(cursor: string, list: string, field?: string): Buffer {
  const [seal, text = ''] = cursor.split('.');
  const content = Buffer.from(text, 'base64url');
  if (seal !== sealOf(content, list)) throw badCursor(field);
  return content;
}

/** Maximum ids per request, and maximum runs to read. Further runs are treated as current. */
const [MOST_IDS, MOST_RUNS] = [500, 1_000];

/** Returns the runs that have a newer run of their id. Reconciliations never count. */
export async function supersededRuns(
  client: Client,
  runs: readonly WorkflowExecutionInfo[],
): Promise<ReadonlySet<string>> {
  const closed = runs.filter(({ type, closeTime }) => type !== RECONCILE_WORKFLOW && closeTime !== undefined);
  if (closed.length === 0) return new Set();
  const ids = [...new Set(closed.map(({ workflowId }) => workflowId))].slice(0, MOST_IDS);
  const oldest = new Date(Math.min(...closed.map(({ startTime }) => startTime.getTime())));
  const query = [`WorkflowId IN (${ids.map(quoted).join(', ')})`, `StartTime >= ${quotedTime(oldest.getTime())}`].join(
    ' AND ',
  );
  const newest = new Map<string, number>();
  const { runs: later } = await listRuns(client, { query, pageSize: MOST_RUNS });
  for (const { workflowId, startTime } of later)
    newest.set(workflowId, Math.max(startTime.getTime(), newest.get(workflowId) ?? 0));
  const isSuperseded = ({ workflowId, startTime }: WorkflowExecutionInfo) =>
    (newest.get(workflowId) ?? 0) > startTime.getTime();
  return new Set(closed.filter(isSuperseded).map(({ runId }) => runId));
}

/** Yields all runs of a list. `wait` limits the read of each page: a long list takes its time. */
export const allRuns = (client: Client, query: string, wait?: WaitOptions): AsyncGenerator<WorkflowExecutionInfo> =>
  allItems<WorkflowExecutionInfo, Uint8Array>(async (token) => {
    const read = () => readPage(client, { query, pageSize: MAX_PAGE, token }, () => false);
    const { runs: items, token: cursor } = await callTemporal(client, read, wait);
    return { items, ...(cursor && { cursor }) };
  });

/** Yields the items of all pages. `read` returns the page at a cursor; absent: the first one. */
export async function* allItems<T, Cursor = string>(
  read: (cursor?: Cursor) => Promise<{ items: T[]; cursor?: Cursor }>,
  from?: Cursor,
): AsyncGenerator<T, void> {
  let cursor = from;
  do {
    const page = await read(cursor);
    yield* page.items;
    cursor = page.cursor;
  } while (cursor !== undefined);
}
