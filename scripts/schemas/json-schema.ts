import * as z from 'zod';
import { fieldDocs } from './doc-comments.js';

/** JSON Schema, or a part of one. */
export type JsonSchema = { [keyword: string]: unknown };

/** Where the schemas' ids begin. They are names, nothing is served there. */
const ID_BASE = 'urn:payment-orders:schema:';

export const idOf = (name: string): string => `${ID_BASE}${name}`;

/** A wire type: what is sent to workflows (`in`) or what they answer and send (`out`). */
export interface WireType {
  direction: 'in' | 'out';
  description: string;
  schema: z.ZodType;
  /** Rules about several fields, which the code checks outside of the zod schema. */
  rules?: JsonSchema;
}

const isObject = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Applies a change to every schema within a JSON Schema, the inner ones first. */
function everywhere(schema: JsonSchema, change: (schema: JsonSchema) => JsonSchema): JsonSchema {
  const inner = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inner);
    if (!isObject(value)) return value;
    return change(Object.fromEntries(Object.entries(value).map(([key, item]) => [key, inner(item)])));
  };
  return inner(schema) as JsonSchema;
}

/** The bounds of safe integers say nothing to a caller. */
function withoutSafeBounds(schema: JsonSchema): JsonSchema {
  const { minimum, maximum, ...rest } = schema;
  if (schema.type !== 'integer') return schema;
  return {
    ...rest,
    ...(minimum !== Number.MIN_SAFE_INTEGER && minimum !== undefined && { minimum }),
    ...(maximum !== Number.MAX_SAFE_INTEGER && maximum !== undefined && { maximum }),
  };
}

const allowsNull = ({ type, anyOf }: JsonSchema): boolean =>
  [type].flat().includes('null') || (Array.isArray(anyOf) && anyOf.some((one) => isObject(one) && allowsNull(one)));

/** Inputs: null means absent, at any depth. */
function withNulls(schema: JsonSchema): JsonSchema {
  const { properties, required = [] } = schema;
  if (schema.type !== 'object' || !isObject(properties)) return schema;
  const shown = Object.entries(properties).map(([name, field]) => {
    if (!isObject(field) || (required as string[]).includes(name) || allowsNull(field)) return [name, field];
    const { description, ...rest } = field;
    return [name, { ...(description !== undefined && { description }), anyOf: [rest, { type: 'null' }] }];
  });
  return { ...schema, properties: Object.fromEntries(shown) };
}

/** Results: fields may be added, and the known keys of a record are fields. */
function open(schema: JsonSchema): JsonSchema {
  const { additionalProperties, propertyNames, ...rest } = schema;
  const names = isObject(propertyNames) && propertyNames.enum;
  if (Array.isArray(names)) {
    return { ...rest, properties: Object.fromEntries(names.map((name) => [name, additionalProperties])) };
  }
  if (additionalProperties === false) return rest;
  return isObject(propertyNames)
    ? { ...rest, ...(additionalProperties !== undefined && { additionalProperties }) }
    : schema;
}

/** What the code says of its schemas, without the names that the document of the HTTP API gives to those it loads. */
class Nameless extends z.core.$ZodRegistry<Record<string, unknown>> {
  override get = (schema: z.core.$ZodType): Record<string, unknown> => {
    const { id: _, ...said } = z.globalRegistry.get(schema) ?? {};
    return said;
  };
}

/** Returns the JSON Schema 2020-12 of a zod schema, with the comments of its fields. */
export function jsonSchemaOf(schema: z.ZodType, direction: WireType['direction']): JsonSchema {
  const made = z.toJSONSchema(schema, {
    io: direction === 'in' ? 'input' : 'output',
    unrepresentable: 'any',
    reused: 'inline',
    metadata: new Nameless(),
    override: ({ zodSchema, jsonSchema }) => {
      const { properties } = jsonSchema;
      if (!properties || !(zodSchema instanceof z.ZodObject)) return;
      for (const [name, description] of Object.entries(fieldDocs(zodSchema, zodSchema.shape))) {
        const field = properties[name];
        if (isObject(field)) properties[name] = { description, ...field };
      }
    },
  });
  const { $schema: _, ...plain } = made as JsonSchema;
  return everywhere(everywhere(plain, withoutSafeBounds), direction === 'in' ? withNulls : open);
}

/** Returns the published schema of a wire type. */
export function publishedSchema(name: string, { direction, description, schema, rules }: WireType): JsonSchema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: idOf(name),
    title: name,
    description,
    ...jsonSchemaOf(schema, direction),
    ...rules,
  };
}
