import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { beforeAll, expect, test } from 'vitest';
import { WIRE_TYPES, WORKFLOWS } from '../../scripts/schemas/wire-types.js';
import { schemaFiles } from '../../scripts/schemas/write-schemas.js';
import { EVENT_KINDS } from '../../src/contract/events.js';
import * as workflows from '../../src/workflows/index.js';
import { FILES, misfit } from './ajv.fixture.js';

const schemas = [...FILES].filter(([, schema]) => schema.$id);

/** Names of the messages that the workflow code handles, by kind. */
const handled = { Update: new Set<string>(), Query: new Set<string>(), Signal: new Set<string>() };

beforeAll(async () => {
  const names = { ...(await import('../../src/contract/names.js')) } as Record<string, unknown>;
  const { BATCH_MESSAGES } = await import('../../src/contract/batch/batch.js');
  const root = new URL('../../src/workflows/', import.meta.url);
  const files = (await readdir(root, { recursive: true })).filter((name) => name.endsWith('.ts'));
  for (const file of files) {
    const text = await readFile(new URL(file, root), 'utf8');
    for (const [, kind, name = ''] of text.matchAll(/\bdefine(Update|Query|Signal)\b[^(\n]*\(([\w.]+)/g)) {
      const member = /^BATCH_MESSAGES\.(\w+)$/.exec(name)?.[1];
      const known = member ? BATCH_MESSAGES[member as keyof typeof BATCH_MESSAGES] : names[name];
      // The updates of a batch are defined by one function.
      const found = known === undefined ? Object.values(BATCH_MESSAGES).filter((one) => one !== 'batchState') : [known];
      for (const one of found) handled[kind as keyof typeof handled].add(String(one));
    }
  }
});

test('every workflow type and every message has its schemas, and every schema is used', () => {
  const types = Object.keys(workflows).filter((name) => name !== 'default');
  expect(Object.keys(WORKFLOWS).toSorted()).toEqual(types.toSorted());
  const all = Object.values(WORKFLOWS);
  const messagesOf = (kind: 'updates' | 'queries' | 'signals') =>
    new Set(all.flatMap((workflow) => Object.keys(workflow[kind] ?? {})));
  expect(messagesOf('updates')).toEqual(handled.Update);
  expect(messagesOf('queries')).toEqual(handled.Query);
  expect(messagesOf('signals')).toEqual(handled.Signal);
  expect(handled.Update.size + handled.Query.size + handled.Signal.size).toBeGreaterThan(13);
  const used = all.flatMap(({ input, result, updates, queries, signals }) => [
    ...[input, result],
    ...[updates, queries, signals].flatMap((kind) =>
      Object.values(kind ?? {}).flatMap((message) => [...message.arguments, message.answer]),
    ),
  ]);
  const apart = ['batch-plan', 'field-errors', ...EVENT_KINDS.map((kind) => `event.${kind}`)];
  expect(new Set([...used.filter((name) => name !== undefined), ...apart])).toEqual(new Set(Object.keys(WIRE_TYPES)));
});

test('every schema has an id, a title and a description, and compiles', () => {
  expect(schemas.map(([file]) => file)).toEqual(Object.keys(WIRE_TYPES).map((name) => `${name}.json`));
  for (const [file, { $schema, $id, title, description }] of schemas) {
    expect($schema).toBe('https://json-schema.org/draft/2020-12/schema');
    expect(`${$id}.json`).toBe(`urn:payment-orders:schema:${file}`);
    expect(`${title}.json`).toBe(file);
    expect(description).toMatch(/^[A-Z].*\.$/);
    expect(misfit(String(title), 0)).toBeDefined();
  }
});

test('fields carry the comments of the code', () => {
  const { properties } = FILES.get('order-input.withdraw.json') as {
    properties: Record<string, { description: string }>;
  };
  expect(properties.resend?.description).toContain('uncertain create is parked');
  const plan = FILES.get('batch-plan.json') as { properties: Record<string, { description: string }> };
  expect(plan.properties.sha256?.description).toContain("Hash of the file's bytes");
});

test('the document of the HTTP API, loaded into the same process, changes no schema', async () => {
  await import('../../src/api/open-api.js');
  expect(schemaFiles()).toEqual(FILES);
});

test('patterns have nothing that Go, Python or Java cannot read: no look-around, no Unicode classes, no \\u', () => {
  const texts = [...JSON.stringify(schemas.map(([, schema]) => schema)).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)];
  const patterns = new Set(texts.map(([, text = '']) => String(JSON.parse(text))));
  expect(patterns.size).toBeGreaterThan(20);
  expect([...patterns].filter((pattern) => /\(\?[=!<]|\\[pPu]/.test(pattern))).toEqual([]);
});

test('objects of results allow fields that are added later; those of inputs do not', () => {
  for (const [file, schema] of schemas) {
    const isClosed = JSON.stringify(schema).includes('"additionalProperties":false');
    const { direction } = WIRE_TYPES[file.slice(0, -'.json'.length)] ?? {};
    if (direction === 'out') expect(isClosed, file).toBe(false);
    else if (schema.type === 'object') expect(schema.additionalProperties, file).toBe(false);
  }
});

test('the event that docs/events.md shows fits, and one without its order type does not', async () => {
  const page = await readFile(new URL('../../docs/events.md', import.meta.url), 'utf8');
  const shown = JSON.parse(/^\{"type".*\}$/m.exec(page)?.[0] ?? '');
  expect(misfit(`event.${shown.type}`, shown)).toBeUndefined();
  const { order_type: _, ...data } = shown.data;
  expect(misfit(`event.${shown.type}`, { ...shown, data })).toBeDefined();
});

test('the AsyncAPI document is valid for its public schema, and shows every kind of event', () => {
  const document = FILES.get('asyncapi.json') as { components: { messages: object } };
  // It brings the meta-schema of draft 7 with it.
  const ajv = new Ajv({ strict: false, allErrors: true, meta: false, validateSchema: false });
  addFormats.default(ajv);
  const validate = ajv.compile(createRequire(import.meta.url)('@asyncapi/specs/schemas/3.0.0.json'));
  validate(JSON.parse(JSON.stringify(document)));
  expect(validate.errors ?? []).toEqual([]);
  expect(validate({ ...document, channels: { events: { adress: 'x' } } })).toBe(false);
  expect(Object.keys(document.components.messages)).toEqual([...EVENT_KINDS, 'orderCallback', 'addressCallback']);
});
