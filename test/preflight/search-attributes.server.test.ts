import { randomUUID } from 'node:crypto';
import { Client, type Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';
import { expect, test } from 'vitest';
import { registerSearchAttributes } from '../../scripts/temporal/search-attributes.js';
import { attributeFindings } from '../../src/preflight/temporal.js';
import { retryUntilUsable, useNamespace } from '../support/temporal.js';

const temporal = useNamespace();

const { INDEXED_VALUE_TYPE_KEYWORD: KEYWORD, INDEXED_VALUE_TYPE_BOOL: BOOL } =
  proto.temporal.api.enums.v1.IndexedValueType;

/** A new namespace that has so many attributes of others: what is found in it, and whether ours can be made. */
async function foundBeside(others: number, type: number) {
  const connection = temporal.client.connection as Connection;
  const namespace = `test-${randomUUID()}`;
  await connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: msToTs('1 day') });
  const searchAttributes = Object.fromEntries(Array.from({ length: others }, (_, n) => [`Other${n}`, type]));
  await retryUntilUsable(() => connection.operatorService.addSearchAttributes({ namespace, searchAttributes }));
  const [finding] = await attributeFindings(new Client({ connection, namespace }));
  const fits = await registerSearchAttributes(connection, namespace).then(
    () => true,
    () => false,
  );
  return { text: finding?.text, fits };
}

test.each([
  ['Keyword', 2, KEYWORD, 10, 9],
  ['Bool', 3, BOOL, 3, 1],
])(
  'a namespace without room for our %s attributes is named, with what to do',
  async (name, others, type, most, ours) => {
    const { text, fits } = await foundBeside(others, type);
    expect(fits).toBe(false);
    expect(text).toContain(
      `it has ${others} ${name} attributes of others, and a database keeps ${most} in a namespace`,
    );
    expect(text).toContain(`of which this needs ${ours}. Use a namespace of its own`);
  },
);

test('where they fit, the command that makes them is named', async () => {
  const { text, fits } = await foundBeside(1, KEYWORD);
  expect(fits).toBe(true);
  expect(text).toMatch(/Run: temporal operator search-attribute create/);
});
