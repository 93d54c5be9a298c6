import { setTimeout as sleep } from 'node:timers/promises';

/** The longest time that a question about readiness waits for Temporal. */
const DEADLINE_MS = 2_000;

/** Whoever asks within this time gets one and the same answer: probes must not become a load. */
const SHARED_MS = 1_000;

/** What both kinds of Temporal connections offer. */
interface Asked {
  withDeadline<T>(deadline: number, ask: () => Promise<T>): Promise<T>;
  workflowService: { describeNamespace(request: { namespace: string }): Promise<unknown> };
}

/** Asks Temporal for the namespace; says why it cannot be reached, undefined when it can. Never rejects. */
export function temporalReachable(connection: Asked, namespace: string): () => Promise<string | undefined> {
  let last: { atMs: number; answer: Promise<string | undefined> } | undefined;
  return () => {
    const nowMs = performance.now();
    if (!last || nowMs - last.atMs > SHARED_MS) last = { atMs: nowMs, answer: ask(connection, namespace) };
    return last.answer;
  };
}

const NO_ANSWER = 'Temporal does not answer';

/** The message of a failure may quote addresses and tokens: only that it failed is told. */
async function ask(connection: Asked, namespace: string): Promise<string | undefined> {
  const answer = connection
    .withDeadline(Date.now() + DEADLINE_MS, () => connection.workflowService.describeNamespace({ namespace }))
    .then(
      () => undefined,
      () => NO_ANSWER,
    );
  // Connections that are refused are tried again beyond the deadline.
  return Promise.race([answer, sleep(DEADLINE_MS, NO_ANSWER, { ref: false })]);
}
