import { AsyncResource } from 'node:async_hooks';

const root = new AsyncResource('outside');

/** Runs what another process does, with nothing of the caller's context. */
export const outside = <T>(task: () => T): T => root.runInAsyncScope(task);
