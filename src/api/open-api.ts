import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod';
import * as z from 'zod';
import * as batchShapes from '../shapes/batch-schemas.js';
import * as orderShapes from '../shapes/order-schemas.js';
import * as parts from '../shapes/parts.js';
import * as readShapes from '../shapes/read-schemas.js';
import * as bodies from './bodies.js';
import * as documents from './documents.js';

const capital = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** Names a schema in the document, unless it has a name. */
function addName(schema: z.ZodType, id: string): void {
  const known = z.globalRegistry.get(schema);
  if (known?.id === undefined) z.globalRegistry.add(schema, { ...known, id });
}

/** Schemas that are parameters. They are listed one by one. */
const UNNAMED: readonly unknown[] = [documents.accountQuery, documents.idParams];

for (const [name, schema] of Object.entries({
  ...parts,
  ...readShapes,
  ...batchShapes,
  ...orderShapes,
  ...bodies,
  ...documents,
}))
  if ((schema instanceof z.ZodObject || schema instanceof z.ZodRecord) && !UNNAMED.includes(schema))
    addName(schema, capital(name));

/** Returns the id of an operation, such as `postOrdersByIdCancel`, by which clients call it. */
function operationIdOf(method: string, url: string): string {
  const words = url
    .replace(/^\/v1/, '')
    .replace(/:(\w+)/g, '/by/$1')
    .split(/[^A-Za-z0-9]+/);
  return method.toLowerCase() + words.map(capital).join('');
}

/** Allows more fields in the documented answers: later versions may add some. */
function allowMoreFields({
  zodSchema,
  jsonSchema,
}: {
  zodSchema: unknown;
  jsonSchema: { additionalProperties?: unknown };
}): void {
  if (zodSchema instanceof z.ZodObject && !zodSchema.def.catchall) delete jsonSchema.additionalProperties;
}

const OPTIONS = { zodToJsonConfig: { override: allowMoreFields } };
const toJson = createJsonSchemaTransform(OPTIONS);
const toDocument = createJsonSchemaTransformObject(OPTIONS);

type Schemas = Record<string, unknown>;

/** Returns the names of the schemas that a part of the document refers to, directly or not. */
function usedIn(part: unknown, schemas: Schemas, used = new Set<string>()): ReadonlySet<string> {
  for (const [, name = ''] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
    if (used.has(name)) continue;
    used.add(name);
    usedIn(schemas[name], schemas, used);
  }
  return used;
}

/** How the OpenAPI document is made: each operation and each body has a name. */
export const openApi: FastifyDynamicSwaggerOptions = {
  openapi: {
    openapi: '3.1.0',
    info: { title: 'Payment orders', version: '1', description: 'Starts, shows and decides payment orders.' },
    components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
    security: [{ key: [] }],
  },
  transform: (route) => {
    const operationId = operationIdOf(String(route.route.method), route.url);
    const { body } = route.schema;
    if (body instanceof z.ZodType) addName(body, capital(operationId));
    const made = toJson(route);
    return { ...made, schema: { ...made.schema, operationId } };
  },
  transformObject: (document) => {
    const made = toDocument(document) as { paths?: object; components: { schemas: Schemas } };
    const { schemas } = made.components;
    const used = usedIn(made.paths, schemas);
    const named = Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name)));
    return { ...made, components: { ...made.components, schemas: named } } as never;
  },
};
