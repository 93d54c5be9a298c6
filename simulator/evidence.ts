import type { Evidence, Finding, FollowedOrder } from '../chaos/evidence/evidence.js';
import { followedOrder } from '../chaos/evidence/followed.js';
import type { OperatorReport } from '../chaos/operator.js';
import { ORACLE } from '../chaos/oracle/index.js';
import { parseOrderWorkflowId } from '../src/contract/names.js';
import type { Run } from './engine/run.js';
import { decode } from './engine/wire.js';
import type { World } from './world.js';

/** Payloads are plain here. */
const PLAIN = { encode: async <T>(payloads: T) => payloads, decode: async <T>(payloads: T) => payloads };

/** Findings of the oracle's lines that a run on virtual time has evidence for, and of its own. */
export async function judge(world: World, report: OperatorReport, start: Record<string, string>): Promise<Finding[]> {
  const evidence = await evidenceOf(world, report, start);
  const found = ORACLE.filter(({ name }) => name !== 'canaries never seen').flatMap(({ name, find }) =>
    find(evidence).map(({ text, ...about }) => ({ ...about, text: `${name}: ${text}` })),
  );
  return [...found, ...(await ownFindings(world))];
}

/** What only this engine sees: workflow code that fails, and histories that replay otherwise. */
async function ownFindings({ engine }: World): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const run of [...engine.runs.values()].flat()) {
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
  for (const runs of engine.runs.values()) {
    const run = runs.at(-1);
    const about = run && parseOrderWorkflowId(run.workflowId);
    if (!run || !about) continue;
    const one = await followedOf(run, about.orderId);
    // A reset takes signals into the next run, with another time, and a restore forgets them.
    const forgotten = engine.forgotten.filter(({ workflowId }) => workflowId === run.workflowId);
    const histories = [...runs.map(({ history }) => history), ...forgotten.map(({ events }) => events)];
    const all = await Promise.all(histories.map((events) => followedOrder(about.orderId, { events }, PLAIN as never)));
    const signalsAtMs = all.flatMap((each) => each.signalsAtMs);
    followed.set(about.orderId, { ...one, signalsAtMs });
  }
  return {
    ...{ accepted, followed, service: admin.orders(), requests: admin.requests() },
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

async function followedOf(run: Run, orderId: string): Promise<FollowedOrder> {
  const followed = await followedOrder(orderId, { events: run.history }, PLAIN as never);
  const reason = run.searchAttributes.PaymentAttentionReason;
  return run.isOpen && reason ? { ...followed, parkedFor: String(decode(reason)) } : followed;
}
