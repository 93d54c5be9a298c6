import type { Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import { SEARCH_ATTRIBUTES } from '../../src/contract/names.js';

/** Creates the search attributes of the project that a namespace lacks. */
export async function registerSearchAttributes(connection: Connection, namespace: string): Promise<void> {
  const { operatorService } = connection;
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
  const lacking = Object.entries(SEARCH_ATTRIBUTES).filter(([name]) => !(name in customAttributes));
  const types = lacking.map(([name, type]) => [
    name,
    proto.temporal.api.enums.v1.IndexedValueType[`INDEXED_VALUE_TYPE_${type}`],
  ]);
  if (types.length === 0) return;
  await operatorService.addSearchAttributes({ namespace, searchAttributes: Object.fromEntries(types) });
}
