import { Context, type Info } from '@temporalio/activity';
import { never } from '../process.js';
import type { Host } from './activity.js';
import type { Engine } from './engine.js';
import { type Failure, notFound } from './wire.js';

export const OVER = 'the activity task is over, or its attempt is another';

/** Gives the next attempt of a queue to a program that polls for it by itself, and answers it by its token. */
export function takeAttempt({ hosts }: Engine, queue: string, identity: string) {
  return new Promise<Pick<Info, 'taskToken' | 'activityId'>>((resolve) => {
    const take = () => {
      hosts.splice(hosts.indexOf(host), 1);
      const { taskToken, activityId } = Context.current().info;
      resolve({ taskToken, activityId });
      return never();
    };
    const activities = new Proxy({}, { get: () => take });
    const host: Host = { identity, queues: new Set([queue]), activities, isAlive: true };
    hosts.push(host);
  });
}

/** Fails the attempt of a token. */
export function failAttempt({ tokens }: Engine, taskToken: Uint8Array, failure: Failure): void {
  const held = tokens.of(taskToken);
  if (!held || held.activity.isOver || held.activity.attempt !== held.attempt) throw notFound(OVER);
  held.run.attempts.answer(held.activity, { failure });
}
