/**
 * Records the histories that `test/replay` replays: `npm run record`.
 *
 * They stand for orders that are open at customers while a new version is rolled out. So they are recorded once per
 * scenario and NEVER again to turn a red replay green: a red replay means that the new code breaks running orders, and
 * the code must give the same commands. Only scenarios without a history of any version are recorded, into `next`.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AccountConfig } from '../src/config.js';
import { BULK_SCENARIOS, unwritableScenario } from './replay/bulk-scenarios.js';
import { CANARY, CANARY_SCENARIOS } from './replay/canary-scenarios.js';
import { DECISION_SCENARIOS } from './replay/decision-scenarios.js';
import { EVENT_SCENARIOS, startReceiverOfEvents } from './replay/event-scenarios.js';
import { recordedNames, writeHistory } from './replay/files.js';
import { FOLLOWER_SCENARIOS } from './replay/follower-scenarios.js';
import { FUNDS_SCENARIOS } from './replay/funds-scenarios.js';
import { type Installation, openInstallation } from './replay/installation.js';
import { POLICY_SCENARIOS, writePolicy } from './replay/policy-scenarios.js';
import { RECONCILE_SCENARIOS } from './replay/reconcile-scenarios.js';
import { SCENARIOS, type Scenario } from './replay/scenarios.js';
import { scheduledBatchScenarios } from './replay/scheduled-batch-scenarios.js';
import { SIGNED_SCENARIOS, writeApprovers } from './replay/signed-scenarios.js';
import { QUEUE_SCENARIOS, STOP_SCENARIOS } from './replay/stop-scenarios.js';

/** How the ids of follow-ups end, and their files' names. */
const FOLLOW_UPS = [
  ['.r1', 'follow-up'],
  ['.r2', 'second-follow-up'],
] as const;

/** Scenarios that are under way at a time: a busy machine would let their questions to workflows time out. */
const AT_A_TIME = 8;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function record(installation: Installation, { name, run }: Scenario): Promise<void> {
  const workflowId = await run(installation);
  const { client } = installation;
  await writeHistory(name, await client.workflow.getHandle(workflowId).fetchHistory());
  for (const [suffix, file] of FOLLOW_UPS) {
    // Follow-ups of received orders are orders, too.
    const followUp = client.workflow.getHandle(`${workflowId.replace(/^received:/, 'order:')}${suffix}`);
    const history = await followUp.fetchHistory().catch(() => undefined);
    if (history) await writeHistory(`${name}-${file}`, history);
  }
  say(`recorded ${name}`);
}

/** Records what has no history yet, in an installation with these settings more. */
async function recordMissing(
  scenarios: readonly Scenario[],
  env: Record<string, string>,
  account: Partial<AccountConfig> = {},
): Promise<void> {
  const missing = scenarios.filter(({ name }) => !recorded.includes(name));
  if (missing.length === 0) return;
  const installation = await openInstallation(say, { BATCH_DIR: batchDir, ...env }, { account });
  try {
    const together = missing.filter(({ alone }) => !alone);
    const one = async (): Promise<void> => {
      for (let scenario = together.shift(); scenario; scenario = together.shift()) await record(installation, scenario);
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, one));
    for (const scenario of missing.filter(({ alone }) => alone)) await record(installation, scenario);
  } finally {
    await installation.close();
  }
}

const recorded = await recordedNames();
for (const name of recorded) say(`kept ${name}`);
const batchDir = await mkdtemp(join(tmpdir(), 'record-batches-'));
const all = [
  ...SCENARIOS,
  ...DECISION_SCENARIOS,
  ...FOLLOWER_SCENARIOS,
  ...BULK_SCENARIOS,
  ...FUNDS_SCENARIOS,
  ...STOP_SCENARIOS,
  unwritableScenario(join(batchDir, 'reports')),
  ...RECONCILE_SCENARIOS,
  ...scheduledBatchScenarios(batchDir),
];
await recordMissing(all, {});
await recordMissing(CANARY_SCENARIOS, {}, { canary: CANARY });
await recordMissing(QUEUE_SCENARIOS, { PAYMENT_REQUESTS_PER_SECOND: '1' });
await recordMissing(SIGNED_SCENARIOS, { APPROVERS_FILE: await writeApprovers(batchDir) });
await recordMissing(POLICY_SCENARIOS, { POLICY_FILE: await writePolicy(batchDir) });
const receiver = await startReceiverOfEvents(batchDir);
await recordMissing(EVENT_SCENARIOS, { EVENTS_FILE: receiver.path });
receiver.close();
await rm(batchDir, { recursive: true });
