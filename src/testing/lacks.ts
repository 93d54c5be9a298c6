import { AsyncLocalStorage } from 'node:async_hooks';
import { Accounts, Batches, BatchHandle, OrderHandle, Schedules } from '../index.js';

/** Method of the library that a test has called. */
const called = new AsyncLocalStorage<string>();

class LackError extends Error {}

/** Returns the error for what the double does not have. */
export const notInDouble = (what: string): Error =>
  new LackError(
    `The double of payment-orders lacks ${what}, which ${called.getStore() ?? 'this call'} needs: test that with a worker and the sandbox`,
  );

/** Returns that error if an error was caused by it: the SDK hides it behind one of its own. */
function bare(error: unknown): unknown {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof LackError) return at;
  return error;
}

const isPart = (value: unknown): value is object =>
  [Accounts, Batches, Schedules, OrderHandle, BatchHandle].some((part) => value instanceof part);

/** Returns an object of the library whose methods name themselves in the double's errors. */
export function named<T extends object>(target: T, prefix = ''): T {
  return new Proxy(target, {
    get(_, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return isPart(value) ? named(value, `${String(name)}.`) : value;
      return (...args: unknown[]) => answer(`${prefix}${String(name)}`, () => value.apply(target, args));
    },
  });
}

function answer(method: string, call: () => unknown): unknown {
  const result = called.run(method, call);
  if (result instanceof Promise) {
    return result.then(withHandle, (error) => {
      throw bare(error);
    });
  }
  return Symbol.asyncIterator in Object(result) ? each(method, result as AsyncGenerator) : withHandle(result);
}

function withHandle(result: unknown): unknown {
  const { handle } = Object(result);
  if (isPart(handle)) return { ...Object(result), handle: named(handle, 'handle.') };
  return isPart(result) ? named(result, 'handle.') : result;
}

async function* each(method: string, items: AsyncGenerator): AsyncGenerator {
  try {
    for (;;) {
      const { done, value } = await called.run(method, () => items.next());
      if (done) return;
      yield value;
    }
  } catch (error) {
    throw bare(error);
  }
}
