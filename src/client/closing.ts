import { Connection, type ConnectionOptions } from '@temporalio/client';
import { GRPC } from '../temporal/grpc-status.js';
import { CLOSED } from './temporal-calls.js';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];
type Attempt = ReturnType<Interceptor>;
type Start = Attempt['start'];

/**
 * Lets a connection be closed under calls that are pending: they end as cancelled, at the latest when their next attempt is
 * due, which is some seconds. The SDK alone would repeat them on the closed channel, whose refusal nobody can catch. Returns
 * what ends the calls; close the connection after it.
 */
export function closable(connection: unknown): () => void {
  if (!(connection instanceof Connection)) return () => {};
  const attempts = new Set<Attempt>();
  let closed = false;
  const watch: Interceptor = (options, nextCall) => {
    if (closed) return refusedAttempt();
    const attempt = nextCall(options) as Attempt;
    attempts.add(attempt);
    attempt.start = endingWith(attempt.start.bind(attempt), () => attempts.delete(attempt));
    return attempt;
  };
  // Behind the SDK's own, which repeats: so each attempt comes by.
  connection.options.interceptors?.push(watch);
  return () => {
    closed = true;
    for (const attempt of attempts) attempt.cancelWithStatus(GRPC.cancelled, CLOSED);
  };
}

const endingWith =
  (start: Start, onEnd: () => void): Start =>
  (metadata, listener) =>
    start(metadata, {
      onReceiveMetadata: (received) => listener?.onReceiveMetadata?.(received),
      onReceiveMessage: (message) => listener?.onReceiveMessage?.(message),
      onReceiveStatus: (status) => {
        onEnd();
        listener?.onReceiveStatus?.(status);
      },
    });

/** An attempt that ends as cancelled and touches no channel. */
function refusedAttempt(): Attempt {
  const start: Start = (metadata, listener) => {
    // The request's own may hold an API key, and errors are logged.
    const none = metadata.clone();
    for (const key of Object.keys(none.getMap())) none.remove(key);
    process.nextTick(() => {
      listener?.onReceiveMessage?.(null);
      listener?.onReceiveStatus?.({ code: GRPC.cancelled, details: CLOSED, metadata: none });
    });
  };
  const nothing = (): void => {};
  const attempt = {
    start,
    sendMessage: nothing,
    sendMessageWithContext: nothing,
    startRead: nothing,
    halfClose: nothing,
    cancelWithStatus: nothing,
    getPeer: () => 'closed',
    getAuthContext: () => null,
  };
  return attempt as unknown as Attempt;
}
