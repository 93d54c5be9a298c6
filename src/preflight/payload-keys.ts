import type { Client } from '@temporalio/client';
import { encryptionCodec, PayloadDecryptionError } from '../temporal.js';
import type { Finding, Target } from './findings.js';

const HOUR_MS = 3_600_000;

/** Open runs are looked at by age, so that keys of before a change are among them: so many of each. */
const AGES_MS = [0, HOUR_MS, 24 * HOUR_MS, 7 * 24 * HOUR_MS];
const PER_AGE = 5;

type Run = { workflowId?: string | null; runId?: string | null };

/** Reads what some open workflows began with. A key that is not here, or another one under its name, stops their workflow tasks. */
export async function payloadKeyFindings(client: Client, { config }: Target): Promise<readonly Finding[]> {
  const codec = encryptionCodec(config.encryptionKeys);
  const runs = new Map(
    (await Promise.all(AGES_MS.map((ms) => openRuns(client, ms)))).flat().map((run) => [run.runId, run]),
  );
  const reasons = await Promise.all(
    [...runs.values()].map(async (run) => {
      const payloads = await inputOf(client, run);
      return codec.decode(payloads).then(
        () => undefined,
        (error: unknown) => {
          if (!PayloadDecryptionError.is(error)) throw error;
          return error.message;
        },
      );
    }),
  );
  const unread = reasons.filter((reason) => reason !== undefined);
  if (unread.length === 0) return [];
  const text = `${unread.length} of ${runs.size} open workflows that were looked at cannot be read here (${[...new Set(unread)].join('; ')}). Put the keys that they name back into PAYLOAD_ENCRYPTION_KEYS, behind the first: their workflow tasks fail until then, and nothing is paid by them`;
  return [{ check: 'payload-keys', level: 'error', text }];
}

/** The list itself, since its memos may be what cannot be read. */
async function openRuns({ workflowService, options: { namespace } }: Client, olderThanMs: number): Promise<Run[]> {
  const before = new Date(Date.now() - olderThanMs).toISOString();
  const query = `ExecutionStatus = 'Running'${olderThanMs > 0 ? ` AND StartTime < '${before}'` : ''}`;
  const { executions } = await workflowService.listWorkflowExecutions({ namespace, pageSize: PER_AGE, query });
  return (executions ?? []).flatMap(({ execution }) => execution ?? []);
}

/** The first event alone; nothing for a run that has ended meanwhile and is not kept. */
async function inputOf({ workflowService, options: { namespace } }: Client, execution: Run) {
  const asked = { namespace, execution, maximumPageSize: 1 };
  const { history } = await workflowService.getWorkflowExecutionHistory(asked);
  return history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
}
