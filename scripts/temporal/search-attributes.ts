import type { Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import { SEARCH_ATTRIBUTES } from '../../src/contract/names.js';

/** Creates the project's search attributes in a namespace that has none of them yet. */
export async function registerSearchAttributes(connection: Connection, namespace: string): Promise<void> {
  const types = Object.entries(SEARCH_ATTRIBUTES).map(([name, type]) => [
    name,
    proto.temporal.api.enums.v1.IndexedValueType[`INDEXED_VALUE_TYPE_${type}`],
  ]);
  await connection.operatorService.addSearchAttributes({ namespace, searchAttributes: Object.fromEntries(types) });
}
