import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import proto from '@temporalio/proto';

// Not the SDK's historyToJSON: it fails wherever npm installs protobufjs more than once.
const { History: HistoryMessage } = proto.temporal.api.history.v1;

type History = proto.temporal.api.history.v1.IHistory;

/** Where recorded histories live, one `<scenario>.json` each. */
export const HISTORIES_FOLDER = fileURLToPath(new URL('../../test/replay/histories', import.meta.url));

/** A recorded history under its scenario's name. */
export type RecordedHistory = { workflowId: string; history: History };

/** Names of the scenarios that have been recorded; empty when there is no folder. */
export async function recordedNames(folder = HISTORIES_FOLDER): Promise<string[]> {
  const files = await readdir(folder).catch(() => []);
  return files.filter((file) => file.endsWith('.json')).map((file) => file.slice(0, -'.json'.length));
}

/** All recorded histories, for `Worker.runReplayHistories`. */
export async function readHistories(folder = HISTORIES_FOLDER): Promise<(RecordedHistory & { name: string })[]> {
  const names = await recordedNames(folder);
  return Promise.all(
    names.sort().map(async (name) => {
      const history = HistoryMessage.fromObject(JSON.parse(await readFile(join(folder, `${name}.json`), 'utf8')));
      return { name, workflowId: idOf(history), history };
    }),
  );
}

/** The workflow type a history is of. */
export const workflowTypeIn = ({ history }: RecordedHistory): string =>
  history.events?.[0]?.workflowExecutionStartedEventAttributes?.workflowType?.name ?? '';

/** Workflows refuse to run under an id that is not theirs, so a replay needs the original one. */
const idOf = (history: History): string =>
  history.events?.[0]?.workflowExecutionStartedEventAttributes?.workflowId ?? '';

/** Writes a history for the first time; throws where there is one already. */
export async function writeHistory(name: string, history: History): Promise<void> {
  const plain = HistoryMessage.toObject(HistoryMessage.fromObject(history), {
    enums: String,
    longs: String,
    bytes: String,
  });
  const events = (plain.events as unknown[]).map((event) => JSON.stringify(event, withoutMachine));
  const text = `{"events":[\n${events.join(',\n')}\n]}\n`;
  await writeFile(join(HISTORIES_FOLDER, `${name}.json`), text, { flag: 'wx' });
}

/** Leaves out what a replay does not need and what says something about the machine it was recorded on. */
function withoutMachine(key: string, value: unknown): unknown {
  // Workers and their sticky queues are called <pid>@<host name>.
  if (typeof value === 'string' && /^\d+@/.test(value)) return 'recorder';
  return key === 'stackTrace' ? undefined : value;
}
