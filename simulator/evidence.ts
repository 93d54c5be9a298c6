import proto from '@temporalio/proto';
import type { Evidence, Finding, FollowedOrder } from '../chaos/evidence/evidence.js';
import { followedOrder } from '../chaos/evidence/followed.js';
import type { OperatorReport } from '../chaos/operator.js';
import { ORACLE } from '../chaos/oracle/index.js';
import { isCreate } from '../chaos/oracle/traffic.js';
import type { EventsInput } from '../src/contract/events.js';
import {
  afterEndWorkflowId,
  CANARY_WORKFLOW,
  DEFAULT_ACCOUNT,
  orderWorkflowId,
  parseOrderWorkflowId,
  parseReceivedWorkflowId,
} from '../src/contract/names.js';
import type { Run } from './engine/run.js';
import { decode } from './engine/wire.js';
import { allBalances, allOrders, allRequests, isCanary } from './service.js';
import { wrongSums } from './sums.js';
import type { World } from './world.js';

const { WorkflowExecutionStatus: Status } = proto.temporal.api.enums.v1;

/** Payloads are plain here. */
const PLAIN = { encode: async <T>(payloads: T) => payloads, decode: async <T>(payloads: T) => payloads };

/** Findings of the oracle's lines that a run on virtual time has evidence for, and of its own. */
export async function judge(world: World, report: OperatorReport): Promise<Finding[]> {
  const evidence = await evidenceOf(world, report);
  // A canary in doubt is closed without anybody who asks.
  const counts = (name: string, { orderId = '' }: Finding) => name !== 'lost' || !isCanary(orderId);
  const found = ORACLE.filter(({ name }) => name !== 'canaries never seen').flatMap(({ name, find }) =>
    find(evidence).flatMap((one) => (counts(name, one) ? { ...one, text: `${name}: ${one.text}` } : [])),
  );
  return [
    ...found,
    ...sentWhileStopped(world),
    ...wrongSums(world),
    ...untold(world),
    ...world.seenLast,
    ...(await ownFindings(world)),
  ];
}

/** Workers notice a stop within this time. */
const NOTICED_MS = 2_000;

/** Creates of a stopped account. A restore forgets stops, and who stood still sends what it had decided before. */
function sentWhileStopped({ stops, forgotMs, service }: World): Finding[] {
  return stops.flatMap(({ fromMs, toMs = Date.now() }) => {
    const untilMs = Math.min(toMs, ...forgotMs.filter((ms) => ms > fromMs));
    return allRequests(service)
      .filter(({ path, atMs }) => isCreate({ path }) && atMs > fromMs + NOTICED_MS && atMs < untilMs)
      .filter(({ atMs }) => !service.sentLateMs.has(atMs))
      .map(({ orderId, atMs }) => ({ text: `sent while stopped: ${orderId}, ${atMs - fromMs} ms after the stop` }));
  });
}

/** Ends of orders that a receiver was not told, and events of a run that came before an earlier one. */
function untold({ engine, receivers }: World): Finding[] {
  // Nobody is told of canaries.
  const isTold = (orderId = '') => orderId !== '' && !isCanary(orderId);
  const orders = [...engine.runs].filter(([workflowId]) => isTold(parseOrderWorkflowId(workflowId)?.orderId));
  const ended = orders.flatMap(([, runs]) => runs.filter(({ status }) => HAS_SAID.includes(status)).slice(-1));
  return [...receivers.got].flatMap(([host, got]) => {
    const ids = new Set(got.map(({ id }) => id));
    // A reset's run counts on from where it was reset to.
    const newest = new Map<string, number>();
    const early = [...ids].filter((id) => {
      const [runId = '', sequence] = id.split('.');
      const before = newest.get(runId);
      newest.set(runId, Number(sequence));
      return before !== undefined && Number(sequence) !== before + 1;
    });
    const missing = ended.filter((run) => !endsSaidBy(run).some((id) => ids.has(id)));
    return [
      ...early.map((id) => ({ text: `events: ${host} got ${id} out of turn` })),
      ...missing.map(({ workflowId }) => ({ text: `events: ${host} was not told of the end of ${workflowId}` })),
    ];
  });
}

/** Ids of events of an end that a run handed over. A reset may have taken them over, with the id of the run before. */
function endsSaidBy({ history }: Run): string[] {
  const inputs = history.flatMap(
    ({ signalExternalWorkflowExecutionInitiatedEventAttributes: signal, ...event }) =>
      (signal ?? event.startChildWorkflowExecutionInitiatedEventAttributes)?.input?.payloads ?? [],
  );
  return inputs.flatMap((payload) => {
    const { events = [] } = Object(decode(payload)) as Partial<EventsInput>;
    return events.flatMap(({ id, type }) => (type === 'order.ended' ? id : []));
  });
}

/** Statuses of runs that ended by themselves. */
const HAS_SAID: readonly number[] = [
  Status.WORKFLOW_EXECUTION_STATUS_COMPLETED,
  Status.WORKFLOW_EXECUTION_STATUS_FAILED,
];

/** What only this engine sees: what never ends, workflow code that fails, and histories that replay otherwise. */
async function ownFindings(world: World): Promise<Finding[]> {
  const { engine } = world;
  const findings: Finding[] = world
    .open()
    .filter(({ workflowId }) => !parseOrderWorkflowId(workflowId))
    .map(({ workflowId }) => ({ text: `${workflowId} is still open` }));
  for (const run of [...engine.allRuns().values()].flat()) {
    if (run.taskFailure !== undefined)
      findings.push({ text: `${run.workflowId}: its code failed: ${run.taskFailure}` });
    const { workflow, differs } = await engine.code.replay(run);
    await workflow.dispose();
    if (differs === undefined) continue;
    findings.push({ text: `${run.workflowId}: its replay differs at activation ${differs + 1}` });
  }
  return findings;
}

async function evidenceOf(world: World, report: OperatorReport): Promise<Evidence> {
  const { engine, service, accepted, audit } = world;
  const followed = new Map<string, FollowedOrder>();
  const runsOf = engine.allRuns();
  for (const [workflowId, runs] of runsOf) {
    const run = runs.at(-1);
    const about = run && (parseOrderWorkflowId(workflowId) ?? receiptOf(world, workflowId) ?? (await canaryOf(run)));
    if (!run || !about) continue;
    const one = await followedOf(run, about.orderId);
    // A reset takes signals into the next run, with another time, and a restore forgets them.
    // One of a run that Temporal forgot reaches the look-ups after an end.
    const ids = [workflowId, afterEndWorkflowId(workflowId)];
    const forgotten = engine.forgotten.filter((one) => ids.includes(one.workflowId));
    const known = ids.flatMap((id) => runsOf.get(id) ?? []);
    const histories = [...known.map(({ history }) => history), ...forgotten.map(({ events }) => events)];
    const all = await Promise.all(histories.map((events) => followedOrder(about.orderId, { events }, PLAIN as never)));
    const signalsAtMs = all.flatMap((each) => each.signalsAtMs);
    followed.set(about.orderId, ofAnother(world, { ...one, signalsAtMs }));
  }
  // Nobody can hold back who stood still between its last look and its send.
  const requests = allRequests(service).filter(
    ({ path, atMs }) => !(isCreate({ path }) && service.sentLateMs.has(atMs)),
  );
  // A canary that Temporal forgot expires unpaid, whoever follows it.
  const isForgotten = (orderId: string) => isCanary(orderId) && !followed.has(orderId) && world.forgotMs.length > 0;
  const known = allOrders(service).filter(({ order }) => !isForgotten(order.user_order_id));
  return {
    ...{
      accepted: new Set([...accepted.keys(), ...world.ofBatches]),
      followed,
      service: known,
      requests,
    },
    ...{
      ledger: { start: world.paidIn, end: allBalances(service) },
      callbacks: service.doubles.flatMap((one) => one.world.traffic.callbacks),
    },
    ...{ leaks: [], searched: { values: 0, forms: 0, bytes: 0, kinds: 0, neverSeen: [] } },
    audit: {
      ...{ files: 1, problems: [] },
      lines: audit.map(({ entry, atMs }) => {
        const { id, event, workflowId, request, choice } = Object(entry);
        return { id, event, atMs, workflowId, orderId: request?.order_id, revision: choice?.revision };
      }),
    },
    ...{ sentBeforeFailover: new Set(), choices: report.choices, wronglyAccepted: [] },
  };
}

/**
 * A conflict of two callers says that the order is the other's, whose run Temporal may have forgotten. Who closes an order in
 * doubt because another account shows it knows of that one. What Temporal forgot is known once a person is asked about it.
 */
function ofAnother(world: World, { failureType, ...one }: FollowedOrder): FollowedOrder {
  const { service } = world;
  const found = allOrders(service).find(({ order }) => order.user_order_id === one.orderId);
  const { isElsewhere, isContested } = world.looked();
  const isClosed = failureType === 'OrderConflict' || failureType === 'OrderUnresolved';
  const isOf = isClosed && (isContested(one.orderId) || isElsewhere(one.orderId));
  const afterEnd = world.engine.newest(afterEndWorkflowId(orderWorkflowId(DEFAULT_ACCOUNT, one.orderId)));
  const isAsked = world.forgotMs.length > 0 && afterEnd?.isOpen && afterEnd.searchAttributes.PaymentAttentionReason;
  if (!found || failureType === undefined || !(isOf || isAsked))
    return { ...one, ...(failureType !== undefined && { failureType }) };
  const result = { outcome: found.order.status, order: found.order, remainderUnknown: 'of another caller or account' };
  return { ...one, result: result as never };
}

/** The order of a receipt, whose id is the service's. */
function receiptOf({ service }: World, workflowId: string): { orderId: string } | undefined {
  const about = parseReceivedWorkflowId(workflowId);
  const found = allOrders(service).find(({ order }) => order.order_uuid === about?.orderUuid);
  return found && { orderId: found.order.user_order_id };
}

/** A canary names its order only in what it returns. */
async function canaryOf(run: Run): Promise<{ orderId: string } | undefined> {
  if (run.start.type !== CANARY_WORKFLOW) return undefined;
  const { result } = await followedOf(run, '');
  return result && { orderId: result.order.user_order_id };
}

async function followedOf(run: Run, orderId: string): Promise<FollowedOrder> {
  const followed = await followedOrder(orderId, { events: run.history }, PLAIN as never);
  const reason = run.searchAttributes.PaymentAttentionReason;
  return run.isOpen && reason ? { ...followed, parkedFor: String(decode(reason)) } : followed;
}
