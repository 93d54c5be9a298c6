import { FailedError, NotDecidedYetError, NoWorkerError, UnresolvedError } from '../client/errors.js';
import { print } from '../print.js';
import { type Show, whileShowing } from './progress.js';
import { EXIT, type Report, reportOfError, type StarterIo } from './report.js';

/** Pace of the looks at the state; the wait for the end in between is what paces them. */
const TICK_MS = 1_000;

/** An order or a batch on the command line. */
export interface Followed<S, R> {
  handle: {
    /** Whether a start found it there already. */
    readonly attached?: boolean;
    isOpen(): Promise<boolean>;
    state(): Promise<S>;
    result(options?: { timeoutMs: number }): Promise<R>;
  };
  /** Such as `order "o-1"`. */
  name: string;
  /** What names it on every line of JSON. */
  id: Readonly<Record<string, string>> & { workflowId: string };
  /** What nobody may do before it has ended. */
  never: string;
  /** The command line that shows it. */
  shownBy: string;
  /** Said where a start found that it had ended. */
  endedBefore: string;
  /** Said in place of a state. */
  nobodyAnswers: string;
  stateText(state: S): string;
  /** Command lines for what a person may decide. */
  commands(state: S): string[];
  /** A line of progress; a change of `key` is said at once. */
  progress(state: S | undefined): { line: string; key: string };
  wantsPerson(state: S): boolean;
  ended(result: R): Pick<Report, 'exitCode' | 'text'>;
}

/** The state, or undefined while no worker answers. */
async function stateIfAnswered<S>({ handle }: Pick<Followed<S, unknown>, 'handle'>): Promise<S | undefined> {
  try {
    return await handle.state();
  } catch (error) {
    if (error instanceof NoWorkerError) return undefined;
    throw error;
  }
}

const decidable = (commands: readonly string[]): string[] =>
  commands.length === 0 ? [] : ['a person has to decide, one of:', ...commands.map((line) => `  ${line}`)];

function reportOfState<S, R>(followed: Followed<S, R>, state: S | undefined): Report {
  const { name, id, never, nobodyAnswers } = followed;
  const commands = state ? followed.commands(state) : [];
  const shown = state ? followed.stateText(state) : nobodyAnswers;
  return {
    exitCode: EXIT.undecided,
    json: { ...id, ...(state && { state }), ...(commands.length > 0 && { decide: commands }) },
    text: [shown, ...decidable(commands), `${name} is not decided yet; ${never}`].join('\n'),
  };
}

/** How it ended, within this time; undefined: it did not. One that failed or was stopped is a report like any other. */
async function reportOfEnd<S, R>(
  { handle, id, ended }: Followed<S, R>,
  options?: { timeoutMs: number },
): Promise<Report | undefined> {
  try {
    const result = await handle.result(options);
    return { ...ended(result), json: { ...id, result } };
  } catch (error) {
    if (error instanceof NotDecidedYetError) return undefined;
    if (!(error instanceof FailedError || error instanceof UnresolvedError)) throw error;
    const report = reportOfError(error);
    return { ...report, json: { ...id, ...report.json } };
  }
}

/** Where an order or a batch stands, or how it ended. */
export async function show<S, R>(followed: Followed<S, R>): Promise<Report> {
  const end = (await followed.handle.isOpen()) ? undefined : await reportOfEnd(followed);
  return end ?? reportOfState(followed, await stateIfAnswered(followed));
}

/** Follows it with progress on stderr: to its end, for this long, or until a person has to decide. */
export function watch<S, R>(
  io: StarterIo,
  followed: Followed<S, R>,
  { timeoutMs = Number.POSITIVE_INFINITY, toItsEnd = false }: { timeoutMs?: number; toItsEnd?: boolean },
): Promise<Report> {
  const { name, never, shownBy } = followed;
  const deadlineMs = Date.now() + timeoutMs;
  // Before the wait, for whoever stops this command meanwhile.
  print(io.stderr, `${name} continues without this command; ${never}. Where it stands: ${shownBy}\n`);
  const step = async (show: Show): Promise<Report> => {
    for (;;) {
      const end = await reportOfEnd(followed, { timeoutMs: Math.min(TICK_MS, Math.max(1, deadlineMs - Date.now())) });
      if (end) return end;
      const state = await stateIfAnswered(followed);
      const { line, key } = followed.progress(state);
      show(line, key);
      const isEnough = !toItsEnd && state !== undefined && followed.wantsPerson(state);
      if (isEnough || Date.now() >= deadlineMs) return reportOfState(followed, state);
    }
  };
  return whileShowing(io.stderr, `waiting for ${name}`, step);
}

/** What a start came to. One that has ended is shown: whoever starts it once more must not take it for one that is under way. */
export async function reportOfStart<S, R>(followed: Followed<S, R>, warning?: string): Promise<Report> {
  const { handle, name, id, endedBefore, shownBy } = followed;
  const attached = handle.attached ?? false;
  if (attached && !(await handle.isOpen())) {
    const end = await show(followed);
    return { ...end, json: { ...end.json, attached }, text: `${endedBefore}\n${end.text}` };
  }
  const what = attached ? 'was started before with the same input' : 'started';
  const text = `${name} ${what} (workflow ${id.workflowId}). Where it stands: ${shownBy}`;
  return {
    exitCode: EXIT.done,
    json: { ...id, attached, ...(warning && { warning }) },
    text: [text, warning].filter(Boolean).join('\n'),
  };
}
