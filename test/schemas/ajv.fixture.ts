import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { idOf } from '../../scripts/schemas/json-schema.js';
import { schemaFiles } from '../../scripts/schemas/write-schemas.js';

/** What `npm run build` writes into `dist/schemas`. */
export const FILES = schemaFiles();

const ajv = new Ajv2020({ allErrors: true, strict: true, strictTypes: false, strictRequired: false });
addFormats.default(ajv);
for (const [name, schema] of FILES) if (schema.$id) ajv.addSchema(schema, name);

/** Why a value does not fit a published schema; undefined if it fits. */
export function misfit(name: string, value: unknown): string | undefined {
  const validate = ajv.getSchema(idOf(name));
  if (!validate) throw new Error(`there is no schema ${name}`);
  return validate(value) ? undefined : ajv.errorsText(validate.errors, { separator: '\n' });
}
