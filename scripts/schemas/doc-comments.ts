import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as batches from '../../src/shapes/batch-schemas.js';
import * as events from '../../src/shapes/event-schemas.js';
import * as orders from '../../src/shapes/order-schemas.js';
import * as parts from '../../src/shapes/parts.js';
import * as reconcile from '../../src/shapes/reconcile-schemas.js';
import * as inputs from '../../src/validation/input-schemas.js';

/** Comments of an object's fields by name. */
type FieldDocs = Record<string, string>;

/** Modules whose constants are schemas, by their paths in `src`. */
const MODULES: Readonly<Record<string, object>> = {
  'shapes/batch-schemas.ts': batches,
  'shapes/event-schemas.ts': events,
  'shapes/order-schemas.ts': orders,
  'shapes/parts.ts': parts,
  'shapes/reconcile-schemas.ts': reconcile,
  'validation/input-schemas.ts': inputs,
};

const DECLARATION = /^(?:export )?const (\w+)/;
const FIELD = /^ {2}(\w+)\??[:,]/;

/** Returns the comments of the fields of each constant of a TypeScript file. */
function docsIn(source: string): Map<string, FieldDocs> {
  const docs = new Map<string, FieldDocs>();
  let comment = '';
  let current: FieldDocs = {};
  for (const part of source.matchAll(/^ *\/\*\*([\s\S]*?)\*\/$|^.*$/gm)) {
    const [line, inside] = part;
    const [, name] = DECLARATION.exec(line) ?? [];
    const [, field] = FIELD.exec(line) ?? [];
    if (name) {
      current = {};
      docs.set(name, current);
    }
    if (field && comment) current[field] = comment;
    comment =
      inside === undefined
        ? ''
        : inside
            .replace(/\s*\n\s*\*\s?/g, ' ')
            .replaceAll('`', '')
            .trim();
  }
  return docs;
}

const root = fileURLToPath(new URL('../../src/', import.meta.url));
const ofSchemas = new Map<unknown, FieldDocs>();
/** `account` and its companions stand in a plain object, and are fields of several inputs. */
const ofOptions = new Map<unknown, string>();

for (const [path, module] of Object.entries(MODULES)) {
  const docs = docsIn(readFileSync(root + path, 'utf8'));
  for (const [name, schema] of Object.entries(module)) ofSchemas.set(schema, docs.get(name) ?? {});
  for (const [name, text] of Object.entries(docs.get('optionSchemas') ?? {})) {
    ofOptions.set(inputs.optionSchemas[name as keyof typeof inputs.optionSchemas], text);
  }
}

/** Returns the comments of an object's fields, as far as they have any. */
export function fieldDocs(schema: unknown, shape: Readonly<Record<string, unknown>>): FieldDocs {
  const own = ofSchemas.get(schema) ?? {};
  const fields = Object.entries(shape).map(([name, field]) => [name, own[name] ?? ofOptions.get(field)]);
  return Object.fromEntries(fields.filter(([, text]) => text));
}
