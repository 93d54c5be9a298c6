import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { asyncApi } from './asyncapi.js';
import { idOf, type JsonSchema, publishedSchema } from './json-schema.js';
import { WIRE_TYPES, WORKFLOWS } from './wire-types.js';

/** Returns every file of `dist/schemas` by name. */
export function schemaFiles(): Map<string, JsonSchema> {
  const schemas = Object.entries(WIRE_TYPES).map(([name, type]): [string, JsonSchema] => [
    `${name}.json`,
    publishedSchema(name, type),
  ]);
  const index = { ids: `${idOf('')}<name>`, files: '<name>.json', workflows: WORKFLOWS };
  return new Map([...schemas, ['index.json', index], ['asyncapi.json', asyncApi()]]);
}

/** Writes the JSON Schemas, their index and the AsyncAPI document into a folder. */
export async function writeSchemas(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, content] of schemaFiles()) {
    await writeFile(join(folder, name), `${JSON.stringify(content, undefined, 2)}\n`);
  }
}
