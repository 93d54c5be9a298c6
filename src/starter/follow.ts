import { NotDecidedYetError, NoWorkerError } from '../client/errors.js';

/** Pace of the looks at the state; the wait for the end in between is what paces them. */
const TICK_MS = 1_000;

/** What can be followed: the handle of an order or of a batch. */
interface Followed<S, R> {
  result(options: { timeoutMs: number }): Promise<R>;
  state(): Promise<S>;
}

/** How following ended. 'waiting': it was enough, or the time was over; `state` is the last one seen. */
export type FollowEnd<S, R> = { kind: 'ended'; result: R } | { kind: 'waiting'; state: S | undefined };

/** How to follow. `timeoutMs` omitted = to the end, or until `isEnough` says so. Without a worker there is no state. */
interface FollowOptions<S> {
  timeoutMs?: number;
  onState: (state: S | undefined) => void;
  isEnough: (state: S | undefined) => boolean;
}

async function resultWithin<R>(handle: Followed<unknown, R>, timeoutMs: number): Promise<R | undefined> {
  try {
    return await handle.result({ timeoutMs });
  } catch (error) {
    if (error instanceof NotDecidedYetError) return undefined;
    throw error;
  }
}

/** The state, or undefined while no worker answers. */
async function stateIfAnswered<S>(handle: Pick<Followed<S, unknown>, 'state'>): Promise<S | undefined> {
  try {
    return await handle.state();
  } catch (error) {
    if (error instanceof NoWorkerError) return undefined;
    throw error;
  }
}

/** Where an order or a batch stands, or how it ended. Throws what the handle throws. */
export async function look<S, R>(
  handle: Pick<Followed<S, unknown>, 'state'> & { isOpen(): Promise<boolean>; result(): Promise<R> },
): Promise<FollowEnd<S, R>> {
  if (await handle.isOpen()) return { kind: 'waiting', state: await stateIfAnswered(handle) };
  return { kind: 'ended', result: await handle.result() };
}

/** Follows an order or a batch to its end, or until it is enough. Throws what the handle throws. */
export async function follow<S, R>(
  handle: Followed<S, R>,
  { timeoutMs, onState, isEnough }: FollowOptions<S>,
): Promise<FollowEnd<S, R>> {
  const deadlineMs = timeoutMs === undefined ? Number.POSITIVE_INFINITY : Date.now() + timeoutMs;
  for (;;) {
    const leftMs = Math.max(1, deadlineMs - Date.now());
    const result = await resultWithin(handle, Math.min(TICK_MS, leftMs));
    if (result) return { kind: 'ended', result };
    const state = await stateIfAnswered(handle);
    onState(state);
    if (isEnough(state) || Date.now() >= deadlineMs) return { kind: 'waiting', state };
  }
}
