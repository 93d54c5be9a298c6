import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from '@temporalio/client';
import { messageOf } from '../../src/contract/failures.js';
import { SEARCH_ATTRIBUTES } from '../../src/contract/names.js';
import { namespaceFindings } from '../../src/preflight/temporal.js';
import { connectTemporal, searchAttributesAdvice } from '../../src/temporal.js';
import type { Log } from './cache.js';
import { registerSearchAttributes } from './search-attributes.js';

/** A server takes new search attributes into use within some seconds. */
const USABLE_WITHIN_MS = 60_000;

/**
 * Creates the search attributes that the namespace of the TEMPORAL_* variables lacks. Throws with the command that creates
 * them, if the server refuses.
 */
export async function prepareNamespace(log: Log): Promise<void> {
  const { client, close } = await connectTemporal({});
  try {
    const [missing] = await namespaceFindings(client);
    if (missing) throw new Error(missing.text);
    const advice = await searchAttributesAdvice(client);
    if (!advice) return;
    const { namespace } = client.options;
    log(`namespace ${namespace} lacks search attributes: creating them`);
    try {
      await registerSearchAttributes(client.connection as Connection, namespace);
      if (await searchAttributesAdvice(client)) throw new Error('some have another type');
      const query = Object.keys(SEARCH_ATTRIBUTES).map((name) => `${name} IS NULL`);
      await untilAccepted(() => client.workflow.count(query.join(' AND ')));
    } catch (error) {
      throw new Error(
        `The search attributes of namespace ${namespace} cannot be created: ${messageOf(error)}. ${advice}`,
      );
    }
  } finally {
    await close();
  }
}

async function untilAccepted(attempt: () => Promise<unknown>): Promise<void> {
  const deadlineMs = Date.now() + USABLE_WITHIN_MS;
  for (;;) {
    const error = await attempt().then(
      () => undefined,
      (error: unknown) => error,
    );
    if (error === undefined) return;
    if (Date.now() > deadlineMs) throw error;
    await sleep(200);
  }
}
