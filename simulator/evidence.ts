import type { Evidence, Finding, FollowedOrder } from '../chaos/evidence/evidence.js';
import { followedOrder } from '../chaos/evidence/followed.js';
import type { OperatorReport } from '../chaos/operator.js';
import { ORACLE } from '../chaos/oracle/index.js';
import { CANARY_WORKFLOW, parseOrderWorkflowId } from '../src/contract/names.js';
import { ORDER_TYPES } from '../src/contract/order/types.js';
import type { Run } from './engine/run.js';
import { decode } from './engine/wire.js';
import { isCanary } from './service.js';
import type { World } from './world.js';

/** Payloads are plain here. */
const PLAIN = { encode: async <T>(payloads: T) => payloads, decode: async <T>(payloads: T) => payloads };

/** Findings of the oracle's lines that a run on virtual time has evidence for, and of its own. */
export async function judge(world: World, report: OperatorReport, start: Record<string, string>): Promise<Finding[]> {
  const evidence = await evidenceOf(world, report, start);
  const found = ORACLE.filter(({ name }) => name !== 'canaries never seen').flatMap(({ name, find }) =>
    find(evidence).map(({ text, ...about }) => ({ ...about, text: `${name}: ${text}` })),
  );
  return [...found, ...sentWhileStopped(world), ...(await ownFindings(world))];
}

/** Workers notice a stop within this time. */
const NOTICED_MS = 2_000;

/** Creates of a stopped account. A restore forgets stops, and who stood still sends what it had decided before. */
function sentWhileStopped({ stops, forgotMs, service }: World): Finding[] {
  return stops.flatMap(({ fromMs, toMs = Date.now() }) => {
    const untilMs = Math.min(toMs, ...forgotMs.filter((ms) => ms > fromMs));
    return service.double.admin
      .requests()
      .filter(({ path, atMs }) => isCreate(path) && atMs > fromMs + NOTICED_MS && atMs < untilMs)
      .filter(({ atMs }) => !service.sentLateMs.has(atMs))
      .map(({ orderId, atMs }) => ({ text: `sent while stopped: ${orderId}, ${atMs - fromMs} ms after the stop` }));
  });
}

const isCreate = (path: string): boolean => ORDER_TYPES.some((type) => path.endsWith(`/order/${type}`));

/** What only this engine sees: what never ends, workflow code that fails, and histories that replay otherwise. */
async function ownFindings(world: World): Promise<Finding[]> {
  const { engine } = world;
  const findings: Finding[] = world
    .open()
    .filter(({ workflowId }) => !parseOrderWorkflowId(workflowId))
    .map(({ workflowId }) => ({ text: `${workflowId} is still open` }));
  for (const run of [...engine.runs.values(), ...engine.retired.values()].flat()) {
    if (run.taskFailure !== undefined)
      findings.push({ text: `${run.workflowId}: its code failed: ${run.taskFailure}` });
    const { workflow, differs } = await engine.code.replay(run);
    await workflow.dispose();
    if (differs === undefined) continue;
    findings.push({ text: `${run.workflowId}: its replay differs at activation ${differs + 1}` });
  }
  return findings;
}

async function evidenceOf(world: World, report: OperatorReport, start: Record<string, string>): Promise<Evidence> {
  const { engine, service, accepted, audit } = world;
  const { admin } = service.double;
  const followed = new Map<string, FollowedOrder>();
  for (const workflowId of new Set([...engine.retired.keys(), ...engine.runs.keys()])) {
    const runs = [...(engine.retired.get(workflowId) ?? []), ...(engine.runs.get(workflowId) ?? [])];
    const run = runs.at(-1);
    const about = run && (parseOrderWorkflowId(workflowId) ?? (await canaryOf(run)));
    if (!run || !about) continue;
    const one = await followedOf(run, about.orderId);
    // A reset takes signals into the next run, with another time, and a restore forgets them.
    const forgotten = engine.forgotten.filter((one) => one.workflowId === workflowId);
    const histories = [...runs.map(({ history }) => history), ...forgotten.map(({ events }) => events)];
    const all = await Promise.all(histories.map((events) => followedOrder(about.orderId, { events }, PLAIN as never)));
    const signalsAtMs = all.flatMap((each) => each.signalsAtMs);
    followed.set(about.orderId, { ...one, signalsAtMs });
  }
  // A canary that Temporal forgot expires unpaid, whoever follows it.
  const isForgotten = (orderId: string) => isCanary(orderId) && !followed.has(orderId) && world.forgotMs.length > 0;
  const known = admin.orders().filter(({ order }) => !isForgotten(order.user_order_id));
  return {
    ...{ accepted: new Set(accepted.keys()), followed, service: known, requests: admin.requests() },
    ...{ ledger: { start, end: admin.ledger() }, callbacks: service.double.world.traffic.callbacks },
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
