import { type Connection, isGrpcServiceError } from '@temporalio/client';
import proto from '@temporalio/proto';
import { SEARCH_ATTRIBUTES } from '../../src/contract/names.js';

/** Creates the search attributes of the project that a namespace lacks. */
export async function registerSearchAttributes(connection: Connection, namespace: string): Promise<void> {
  const { operatorService } = connection;
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace }).catch(unlessUnlisted);
  const lacking = Object.entries(SEARCH_ATTRIBUTES).filter(([name]) => !(name in customAttributes));
  const types = lacking.map(([name, type]) => [
    name,
    proto.temporal.api.enums.v1.IndexedValueType[`INDEXED_VALUE_TYPE_${type}`],
  ]);
  if (types.length === 0) return;
  await operatorService.addSearchAttributes({ namespace, searchAttributes: Object.fromEntries(types) });
}

/** gRPC code of a server that lacks a method. */
const UNIMPLEMENTED = 12;

/** The server that skips time has no list, and nothing in it. */
function unlessUnlisted(error: unknown): { customAttributes: object } {
  if (isGrpcServiceError(error) && error.code === UNIMPLEMENTED) return { customAttributes: {} };
  throw error;
}
