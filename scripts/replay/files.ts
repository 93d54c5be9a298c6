import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import proto from '@temporalio/proto';

// Not the SDK's historyToJSON: it fails wherever npm installs protobufjs more than once.
const { History: HistoryMessage } = proto.temporal.api.history.v1;

type History = proto.temporal.api.history.v1.IHistory;

/** Recorded histories: `<version that wrote it>/<scenario>.json`. */
export const HISTORIES_FOLDER = fileURLToPath(new URL('../../test/replay/histories', import.meta.url));

/** Folder of what no released version has written. `npm run version` gives it the version's name. */
export const NEXT = 'next';

/** A recorded history under its scenario's name. */
export type RecordedHistory = { workflowId: string; history: History };

/** Paths of all recorded histories by scenario, whatever version they are of; empty if there is no folder. */
async function recordedPaths(folder: string): Promise<Map<string, string>> {
  const files = await readdir(folder, { recursive: true }).catch(() => []);
  const paths = files.filter((file) => file.endsWith('.json')).sort();
  return new Map(paths.map((path) => [basename(path, '.json'), join(folder, path)]));
}

/** Names of the scenarios that have been recorded. */
export const recordedNames = async (): Promise<string[]> => [...(await recordedPaths(HISTORIES_FOLDER)).keys()];

/** All recorded histories, for `Worker.runReplayHistories`. */
export async function readHistories(folder = HISTORIES_FOLDER): Promise<(RecordedHistory & { name: string })[]> {
  const paths = await recordedPaths(folder);
  return Promise.all(
    [...paths].map(async ([name, path]) => {
      const history = HistoryMessage.fromObject(JSON.parse(await readFile(path, 'utf8')));
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
  await mkdir(join(HISTORIES_FOLDER, NEXT), { recursive: true });
  await writeFile(join(HISTORIES_FOLDER, NEXT, `${name}.json`), text, { flag: 'wx' });
}

/** Leaves out what a replay does not need and what says something about the machine it was recorded on. */
function withoutMachine(key: string, value: unknown): unknown {
  // Workers and their sticky queues are called <pid>@<host name>.
  if (typeof value === 'string' && /^\d+@/.test(value)) return 'recorder';
  return key === 'stackTrace' ? undefined : value;
}
