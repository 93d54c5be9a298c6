import { AsyncLocalStorage } from 'node:async_hooks';
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { InvalidInputError } from './errors.js';

/**
 * Limits of a call: milliseconds above 0, and a signal whose abort rejects with its reason. What
 * was sent before may still be carried out.
 */
export interface WaitOptions {
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** Signal that stops the bounded call in which code runs. */
const stopOf = new AsyncLocalStorage<AbortSignal>();

/** Node fires longer timers at once. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;
/** The server ends a request this long after the caller has stopped waiting. */
const SERVER_SLACK_MS = 1_000;

/** Reason of the abort that ends a call. Without one, each abort makes one, with a stack. */
const ENDED = new Error('the call that this was part of has ended');

/** Throws InvalidInputError if a call was given options that it does not have. */
export function refuseUnknown(others: object): void {
  const unknown = Object.entries(others).flatMap(([field, value]) => (value === undefined ? [] : [field]));
  if (unknown.length === 0) return;
  throw new InvalidInputError(unknown.map((field) => ({ field, reason: 'unknown option' })));
}

/**
 * Returns the limit, at most what timers support. Throws InvalidInputError, also for other names:
 * a method takes its own options out, and passes the rest.
 */
function limitOf({ timeoutMs, signal, ...others }: WaitOptions): number | undefined {
  refuseUnknown(others);
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new InvalidInputError([{ field: 'signal', reason: 'must be an AbortSignal' }]);
  }
  if (timeoutMs === undefined) return undefined;
  if (Number.isFinite(timeoutMs) && timeoutMs > 0) return Math.min(timeoutMs, MAX_TIMEOUT_MS);
  throw new InvalidInputError([{ field: 'timeoutMs', reason: 'must be a number of milliseconds above 0' }]);
}

/**
 * Runs a call within its limits and those of the bounded call around it. `over` runs when the time
 * is over. At the end, everything that still runs inside is cancelled.
 */
export async function bounded<T>(
  client: Pick<Client, 'withAbortSignal' | 'withDeadline'>,
  wait: WaitOptions,
  call: () => Promise<T>,
  over: () => T | Promise<T>,
): Promise<T> {
  const limitMs = limitOf(wait);
  const signals = [wait.signal, stopOf.getStore()].filter((signal) => signal !== undefined);
  for (const signal of signals) signal.throwIfAborted();
  const stop = new AbortController();
  // The SDK adds a listener for each request, and removes none: a long wait would print a warning.
  setMaxListeners(0, stop.signal);
  const stopped = new Promise<never>((_, reject) => {
    stop.signal.addEventListener('abort', () => reject(stop.signal.reason));
  });
  const pass = ({ target }: Event) => stop.abort((target as AbortSignal).reason);
  for (const signal of signals) signal.addEventListener('abort', pass);
  let isOver = false;
  const timer =
    limitMs &&
    setTimeout(() => {
      isOver = true;
      stop.abort();
    }, limitMs);
  const run = () => stopOf.run(stop.signal, () => client.withAbortSignal(stop.signal, call));
  try {
    const running = limitMs ? client.withDeadline(Date.now() + limitMs + SERVER_SLACK_MS, run) : run();
    return await Promise.race([stopped, running]);
  } catch (error) {
    if (!isOver) throw stop.signal.aborted ? stop.signal.reason : error;
  } finally {
    clearTimeout(timer);
    for (const signal of signals) signal.removeEventListener('abort', pass);
    stop.abort(ENDED);
  }
  return over();
}

/** Throws the reason if the bounded call around has stopped: nothing more may be sent. */
export const requireRunning = (): void => stopOf.getStore()?.throwIfAborted();

/** Waits, unless the bounded call around stops. */
export const pause = (ms: number): Promise<void> => sleep(ms, undefined, { signal: stopOf.getStore() });
