import { AsyncLocalStorage } from 'node:async_hooks';
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionLike } from '@temporalio/client';
import { outside } from '../outside.js';
import { never } from '../process.js';
import type { Host } from './activity.js';
import { calls } from './calls.js';
import type { Engine } from './engine.js';
import { GrpcError } from './wire.js';

interface Limits {
  deadlineMs?: number;
  signal?: AbortSignal;
}

/** One for all: each storage that was ever used costs time at each promise of the process. */
const limits = new AsyncLocalStorage<Limits>();

const DEADLINE_EXCEEDED = 4;
const CANCELLED = 1;

/** A connection of the SDK's client to the engine. `host`: the process that calls; once it is killed, it gets no answer. */
export function connectionTo(engine: Engine, host?: Host): ConnectionLike {
  const answers = calls(engine);
  const call = (name: string) => async (request: never) => {
    const known = answers[name as keyof typeof answers] as ((request: never) => unknown) | undefined;
    if (!known) throw new GrpcError(12, `the engine has no call ${name}`);
    return limited(limits.getStore() ?? {}, async () => {
      await sleep(engine.lag());
      await host?.thawed?.();
      if (host?.isAlive === false) await never();
      const answer = await outside(() => known(request));
      await host?.thawed?.();
      if (host?.isAlive === false) await never();
      return answer;
    });
  };
  const services = new Proxy({}, { get: (_, name) => call(String(name)) });
  return {
    workflowService: services as ConnectionLike['workflowService'],
    operatorService: services as ConnectionLike['operatorService'],
    plugins: [],
    close: async () => undefined,
    ensureConnected: async () => undefined,
    withDeadline: (deadline, ask) => within({ deadlineMs: new Date(deadline).getTime() }, ask),
    withMetadata: (_, ask) => ask(),
    withAbortSignal: (signal, ask) => within({ signal }, ask),
  };
}

const within = <R>(more: Limits, call: () => Promise<R>): Promise<R> =>
  limits.run({ ...limits.getStore(), ...more }, call);

/** The answer of a call, or gRPC's error if its time is over or its caller gave it up. */
function limited<T>({ deadlineMs, signal }: Limits, answer: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = (code: number, details: string) => {
      stop();
      reject(new GrpcError(code, details));
    };
    const late = () => end(DEADLINE_EXCEEDED, 'the time limit is over');
    const timer = deadlineMs && setTimeout(late, Math.max(0, deadlineMs - Date.now()));
    const abort = () => end(CANCELLED, 'the caller aborted');
    const stop = () => {
      clearTimeout(timer || undefined);
      signal?.removeEventListener('abort', abort);
    };
    // An activity may have many calls under way.
    if (signal) setMaxListeners(0, signal);
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted) return abort();
    answer().then(
      (value) => {
        stop();
        resolve(value);
      },
      (error) => {
        stop();
        reject(error);
      },
    );
  });
}
