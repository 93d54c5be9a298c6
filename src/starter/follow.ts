import { FailedError, NotDecidedYetError, NoWorkerError, UnresolvedError } from '../client/errors.js';
import { print } from '../print.js';
import { type Show, whileShowing } from './progress.js';
import { EXIT, type Report, reportOfError, type StarterIo } from './report.js';
import { linkLine, pageLink } from './ui-links.js';

/** Interval between looks at the state. */
const TICK_MS = 1_000;

interface Progress {
  line: string;
  key: string;
}

/** Order or batch on the command line. */
export interface Followed<S, R> {
  handle: {
    /** A start found that it exists. */
    readonly attached?: boolean;
    isOpen(): Promise<boolean>;
    state(): Promise<S>;
    result(options?: { timeoutMs: number }): Promise<R>;
  };
  /** Name such as `order "o-1"`. */
  name: string;
  /** Identifying fields on every JSON line. */
  id: Readonly<Record<string, string>> & { workflowId: string };
  /** Warning for as long as it is open. */
  never: string;
  /** Command line that shows it. */
  shownBy: string;
  /** Text for a start that found it ended. */
  endedBefore: string;
  /** Text in place of a state. */
  nobodyAnswers: string;
  stateText(state: S): string;
  /** Returns the command lines for possible decisions. */
  commands(state: S): string[];
  /** Returns a progress line. A change of `key` is shown at once. */
  progress(state: S | undefined): Progress | Promise<Progress>;
  wantsPerson(state: S): boolean;
  ended(result: R): Pick<Report, 'exitCode' | 'text'>;
  /** Adds what came after the end to the report of an end. */
  withLater?(report: Report): Promise<Report>;
}

/** Returns the state; undefined while no worker answers. */
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
  const { runId }: { runId?: string } = Object(state);
  const ui = pageLink(id.workflowId, runId);
  return {
    exitCode: EXIT.undecided,
    json: { ...id, ...(state && { state }), ...(commands.length > 0 && { decide: commands }), ...(ui && { ui }) },
    text: [shown, ...linkLine(ui), ...decidable(commands), `${name} is not decided yet; ${never}`].join('\n'),
  };
}

/** Returns how it ended, and what came later; undefined if it has not ended in time. */
async function reportOfEnd<S, R>(
  followed: Followed<S, R>,
  options?: { timeoutMs: number },
): Promise<Report | undefined> {
  const report = await endInTime(followed, options);
  return report && followed.withLater ? followed.withLater(report) : report;
}

async function endInTime<S, R>(
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

/** Returns the current state, or the end. */
export async function show<S, R>(followed: Followed<S, R>): Promise<Report> {
  const end = (await followed.handle.isOpen()) ? undefined : await reportOfEnd(followed);
  return end ?? reportOfState(followed, await stateIfAnswered(followed));
}

/** Follows with progress on stderr: to the end, for a time, or until a person has to decide. */
export function watch<S, R>(
  io: StarterIo,
  followed: Followed<S, R>,
  { timeoutMs = Number.POSITIVE_INFINITY, toItsEnd = false }: { timeoutMs?: number; toItsEnd?: boolean },
): Promise<Report> {
  const { name, never, shownBy } = followed;
  const deadlineMs = Date.now() + timeoutMs;
  // Printed before the wait, for a user who stops this command.
  print(io.stderr, `${name} continues without this command; ${never}. Where it stands: ${shownBy}\n`);
  const step = async (show: Show): Promise<Report> => {
    for (;;) {
      const end = await reportOfEnd(followed, { timeoutMs: Math.min(TICK_MS, Math.max(1, deadlineMs - Date.now())) });
      if (end) return end;
      const state = await stateIfAnswered(followed);
      const { line, key } = await followed.progress(state);
      show(line, key);
      const isEnough = !toItsEnd && state !== undefined && followed.wantsPerson(state);
      if (isEnough || Date.now() >= deadlineMs) return reportOfState(followed, state);
    }
  };
  return whileShowing(io.stderr, `waiting for ${name}`, step);
}

/**
 * Returns the result of a start. If it had already ended, the report shows that, so that nobody
 * takes it for a new one.
 */
export async function reportOfStart<S, R>(followed: Followed<S, R>, warning?: string): Promise<Report> {
  const { handle, name, id, endedBefore, shownBy } = followed;
  const attached = handle.attached ?? false;
  if (attached && !(await handle.isOpen())) {
    const end = await show(followed);
    return { ...end, json: { ...end.json, attached }, text: `${endedBefore}\n${end.text}` };
  }
  const what = attached ? 'was started before with the same input' : 'started';
  const ui = pageLink(id.workflowId);
  const text = `${name} ${what} (workflow ${id.workflowId}). Where it stands: ${shownBy}`;
  return {
    exitCode: EXIT.done,
    json: { ...id, attached, ...(warning && { warning }), ...(ui && { ui }) },
    text: [text, ...linkLine(ui), warning].filter(Boolean).join('\n'),
  };
}
