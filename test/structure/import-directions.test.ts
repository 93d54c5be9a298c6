import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { importViolations, readSources } from '../../scripts/import-directions.js';

test('all imports of src and sandbox go the allowed way', () => {
  const files = readSources(fileURLToPath(new URL('../..', import.meta.url)));
  expect(files.length).toBeGreaterThan(0);
  expect(importViolations(files)).toEqual([]);
});

const allowed: [string, string][] = [
  ['src/workflows/steps/create.ts', "import type * as activities from '../../activities/index.js';"],
  ['src/workflows/withdraw.ts', "import { createOrder } from './steps/create.js';"],
  ['src/workflows/withdraw.ts', "import { proxyActivities } from '@temporalio/workflow';"],
  ['src/contract/order/request.ts', "import type { orderSchemas } from '../../validation/order-input.js';"],
  ['src/worker.ts', "import {\n  createActivities,\n} from './activities/index.js';"],
  ['src/starter.ts', "const { doctor } = await import('./preflight/doctor.js');"],
  ['src/receiver.ts', "import { createReceiver } from './receiver/server.js';"],
  ['src/testing/check.ts', "import { shortfall } from '../activities/order/balances.js';"],
  ['src/config.ts', 'const env = process.env;'],
  ['src/client.ts', '/** The only reader of process.env is the configuration. */'],
  ['src/client.ts', "  // import { x } from '../sandbox/main.js';"],
  ['sandbox/main.ts', "import { start } from './server.js';"],
];

test.each(allowed)('%s may contain %j', (path, text) => {
  expect(importViolations([{ path, text }])).toEqual([]);
});

const refused: [string, string, string][] = [
  ['src/workflows/steps/create.ts', "import * as activities from '../../activities/index.js';", 'activities'],
  ['src/workflows/withdraw.ts', "import {\n  sign,\n} from '../payment-service/signers.js';", 'payment-service'],
  ['src/workflows/withdraw.ts', "import '../config.js';", 'config'],
  ['src/workflows/withdraw.ts', "import { validateOrderInput } from '../validation/order-input.js';", 'validation'],
  ['src/workflows/withdraw.ts', "import type { FormatChecks } from '../validation/format-checks.js';", 'validation'],
  ['src/contract/ids.ts', "import { fieldErrors } from '../validation/field-errors.js';", 'validation'],
  ['src/contract/ids.ts', "export * from '../client/index.js';", 'client'],
  ['src/payment-service/client.ts', "import type { Config } from '../config.js';", 'config'],
  ['src/starter.ts', "import { signers } from './payment-service/signers.js';", 'payment-service'],
  ['src/starter.ts', "import { doctor } from './preflight/doctor.js';", 'preflight'],
  ['src/worker.ts', "const main = await import('../sandbox/main.js');", 'sandbox'],
  ['src/testing/check.ts', "import { checkOrder } from '../activities/order/check-order.js';", 'activities'],
  ['src/testing.ts', "import { createOrder } from './workflows/create/create-order.js';", 'workflows'],
  ['src/newcomer/index.ts', "import { x } from '../contract/ids.js';", 'newcomer'],
  ['sandbox/main.ts', "import { money } from '../src/contract/money.js';", 'src'],
  ['src/workflows/withdraw.ts', 'const { createOrder } = proxyLocalActivities(options);', 'proxyLocalActivities'],
  ['src/client/start.ts', 'const key = process.env.PAYMENT_API_KEY;', 'process.env'],
];

test.each(refused)('%s must not contain %j', (path, text, named) => {
  expect(importViolations([{ path, text }])).toEqual([expect.stringContaining(named)]);
});
