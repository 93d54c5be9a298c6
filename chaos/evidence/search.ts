import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import proto from '@temporalio/proto';
import type { SandboxOrder } from '../../sandbox/index.js';
import type { ChaosStack } from '../stack.js';
import type { Leak, Searched } from './evidence.js';
import { credentials, isSaidLater, type Planted, personalData } from './hidden.js';
import { type Allowed, type Hidden, leaksAmong, SecretScanner } from './secrets.js';
import { payloadsOf } from './texts.js';

const { History: HistoryMessage } = proto.temporal.api.history.v1;
const { WorkflowExecutionInfo } = proto.temporal.api.workflow.v1;
type ListedWorkflow = proto.temporal.api.workflow.v1.IWorkflowExecutionInfo;

const PAGE = 1_000;

/** Files of a run that are not the product's: its plan, the accounts, receivers of events, batch files, the service's own books, and the compiled product. */
const NOT_OURS = /^(?:requested\.ndjson|accounts\.json|events\.json|batches\/|dist\/|sandbox\/)/;
/** SQLite's file, its write-ahead log and the index of that; or all that PostgreSQL keeps. */
const DATABASE = /^(?:temporal\.db(?:-wal|-shm)?$|postgres\/data\/)/;

const WORKER_LOG = /^logs\/worker-\d+\.log$/;

/** What a run was about, as far as it has to be looked for. */
export interface Sought {
  planted: readonly Planted[];
  service: readonly SandboxOrder[];
  orderIds: ReadonlySet<string>;
  /** Of the orders, by workflow id, as they are stored. */
  histories: ReadonlyMap<string, History>;
  /** Returns true for workflows whose history is searched; absent = all. */
  isSought?: (workflowId: string) => boolean;
}

/** What is searched, and with what it was set up. */
type SearchedStack = Pick<ChaosStack, 'client' | 'codec' | 'encrypted' | 'folder' | 'secrets' | 'signatures'>;

/** Looks for every secret and all personal data in everything that Temporal stores and our processes write. */
export async function searchEverything(
  stack: SearchedStack,
  { planted, service, orderIds, histories, isSought = () => true }: Sought,
): Promise<{ leaks: Leak[]; searched: Searched }> {
  const personal = personalData(planted, service);
  const hidden = [...credentials(stack.secrets, stack.signatures, orderIds), ...personal];
  const scanner = new SecretScanner(hidden);
  // Without encryption, inputs, results and messages hold what the callers gave.
  const stored: Allowed = stack.encrypted ? 'nothing' : 'orders';
  const seen = new Set<string>();
  const leaks: Leak[] = [];
  const listed = await listedWorkflows(stack);
  for (const [workflowId, history] of [
    ...histories,
    ...(await otherHistories(
      stack,
      listed.filter(({ execution }) => isSought(execution?.workflowId ?? '')),
      histories,
    )),
  ]) {
    const bytes = Buffer.from(HistoryMessage.encode(HistoryMessage.fromObject(history)).finish());
    leaks.push(...scanner.leaksOf(`the history of ${workflowId}`, bytes, stored));
    leaks.push(...scanner.leaksInClear(workflowId, history));
    const payloads = await stack.codec.decode(payloadsOf(history));
    const read = Buffer.concat(payloads.map(({ data }) => Buffer.from(data ?? [])));
    for (const found of scanner.foundIn(read)) seen.add(found.hidden.kind);
  }
  const shown = Buffer.concat(listed.map((info) => WorkflowExecutionInfo.encode(info).finish()));
  leaks.push(...scanner.leaksOf("the server's list of workflows", shown, 'nothing'));
  for (const file of await filesOf(stack.folder)) {
    const path = join(stack.folder, file);
    if (WORKER_LOG.test(file)) leaks.push(...leaksOfWorkerLog(scanner, file, await readFile(path, 'latin1')));
    else {
      const found = await scanner.foundInFile(path);
      leaks.push(...leaksAmong(file, found, DATABASE.test(file) ? stored : allowedIn(file)));
    }
  }
  return { leaks, searched: summary(scanner, hidden, personal, seen) };
}

/** Outside of the database: rejected rows stand in their report as they stood in the file. */
function allowedIn(file: string): Allowed {
  if (file === 'logs/starter.log') return 'shown';
  if (file.startsWith('audit/')) return 'audited';
  return /^reports\/.*\.rejected\.csv$/.test(file) ? 'orders' : 'nothing';
}

/** Of its lines, those that repeat the audit record may say what that says. */
function leaksOfWorkerLog(scanner: SecretScanner, file: string, text: string): Leak[] {
  const lines = text.split('\n');
  const isAudit = (line: string) => line.includes('"auditHash":"');
  const leaksIn = (some: string[], allowed: Allowed) =>
    scanner.leaksOf(file, Buffer.from(some.join('\n'), 'latin1'), allowed);
  return [
    ...leaksIn(lines.filter(isAudit), 'audited'),
    ...leaksIn(
      lines.filter((line) => !isAudit(line)),
      'nothing',
    ),
  ];
}

function summary(scanner: SecretScanner, all: Hidden[], personal: Hidden[], seen: ReadonlySet<string>): Searched {
  const kinds = new Set(all.map(({ kind }) => kind)).size;
  const neverSeen = [...new Set(personal.map(({ kind }) => kind))].filter(
    (kind) => !seen.has(kind) && !isSaidLater(kind),
  );
  return { values: all.length, forms: scanner.forms, bytes: scanner.searched, kinds, neverSeen };
}

/** What the server shows of all workflows: ids, types, search attributes, memos. */
async function listedWorkflows({ client }: SearchedStack): Promise<ListedWorkflow[]> {
  const { namespace } = client.options;
  const listed: ListedWorkflow[] = [];
  let nextPageToken: Uint8Array | undefined;
  do {
    const page = await client.workflowService.listWorkflowExecutions({ namespace, pageSize: PAGE, nextPageToken });
    listed.push(...page.executions);
    nextPageToken = page.nextPageToken;
  } while (nextPageToken?.length);
  return listed;
}

/** Histories of every run that is not an order's: batches, reads, reconciliations. */
async function otherHistories(
  { client }: SearchedStack,
  listed: readonly ListedWorkflow[],
  known: ReadonlyMap<string, History>,
): Promise<[workflowId: string, history: History][]> {
  const others = listed.flatMap(({ execution }) => {
    const { workflowId, runId } = execution ?? {};
    return workflowId && runId && !known.has(workflowId) ? [{ workflowId, runId }] : [];
  });
  const read = async ({ workflowId, runId }: (typeof others)[number]): Promise<[string, History]> => [
    workflowId,
    await client.workflow.getHandle(workflowId, runId).fetchHistory(),
  ];
  return Promise.all(others.map(read));
}

/** Every file that the product or Temporal wrote, whichever it is, relative to the folder. */
async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
  return files.filter((file) => !NOT_OURS.test(file)).sort();
}
