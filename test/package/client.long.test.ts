import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { beforeAll, expect, test } from 'vitest';
import { orderInput } from '../support/inputs.js';
import { newOrderId, useLab } from '../support/lab.js';
import { installed, type Packed, packagesIn, packedPackages } from '../support/packed.js';

const MAX_MIB = 50;
const MAX_PACKAGES = 55;

const lab = useLab();
let packed: Packed;
beforeAll(async () => {
  packed = await packedPackages();
}, 600_000);

const NAMES = 'InvalidInputError, isClientError, PaymentOrders, verifyEvent';
const IMPORTS = `import { ${NAMES} } from 'payment-orders-client';`;
const REQUIRES = `const { ${NAMES} } = require('payment-orders-client');`;

/** Pays one order out, and has one refused. */
const RUN = `
async function run() {
  const orders = await PaymentOrders.connect();
  const refused = await orders.start('withdraw', {} as never).catch((error: unknown) => error);
  const { handle } = await orders.create('withdraw', JSON.parse(process.env.INPUT ?? ''));
  const { outcome } = await handle.result({ timeoutMs: 120_000 });
  await orders.close();
  const isRefused = isClientError(refused) && refused instanceof InvalidInputError && refused.name;
  return { outcome, refused: isRefused, verifyEvent: typeof verifyEvent };
}
`;
const RUN_JS = RUN.replace(' as never', '').replace(': unknown', '');
const PRINT = 'run().then((said) => console.log(JSON.stringify(said)));';
const DONE = { outcome: 'completed', refused: 'InvalidInputError', verifyEvent: 'function' };

/** Runs a program in a folder, with the lab's Temporal and an order of its own to pay. */
function start(folder: string, command: string, ...args: string[]) {
  const { address, namespace } = lab.temporal;
  const env = { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace };
  const INPUT = JSON.stringify(orderInput('withdraw', newOrderId('client')));
  return execa(command, args, { cwd: folder, env: { ...env, INPUT }, preferLocal: true });
}

const resultOf = async (folder: string, ...args: string[]) =>
  JSON.parse((await start(folder, process.execPath, ...args)).stdout);

const SAME = `
const required = require('payment-orders-client');
const refused = new required.InvalidInputError([]);
const errors = Object.keys(required).filter((name) => /^[A-Z].*Error$/.test(name));
console.log(JSON.stringify({
  same: isClientError(refused) && refused instanceof InvalidInputError,
  named: errors.every((name) => required[name].name === name),
  errors: errors.length,
}));
`;

test('it is small, has nothing native, and works by import and by require, which share the error classes', async () => {
  const folder = await installed([packed.client], {
    'main.mjs': `${IMPORTS}${RUN_JS}${PRINT}`,
    'main.cjs': `${REQUIRES}${RUN_JS}${PRINT}`,
    'same.mjs': `import { createRequire } from 'node:module';\n${IMPORTS}\nconst require = createRequire(import.meta.url);${SAME}`,
  });
  const { stdout: sizes } = await execa('du', ['-sm', 'node_modules'], { cwd: folder });
  const [mib, packages] = [Number.parseInt(sizes, 10), [...(await packagesIn(folder)).keys()]];
  process.stdout.write(`payment-orders-client with its peers: ${mib} MiB, ${packages.length} packages\n`);
  expect(mib).toBeLessThanOrEqual(MAX_MIB);
  expect(packages.length).toBeLessThanOrEqual(MAX_PACKAGES);
  expect(packages.filter((path) => /worker|core-bridge|webpack|swc|fastify|\/got$|\/pino$/.test(path))).toEqual([]);
  const { stdout: native } = await execa('find', ['node_modules', '-name', '*.node'], { cwd: folder });
  expect(native).toBe('');
  expect(await resultOf(folder, 'main.mjs')).toEqual(DONE);
  expect(await resultOf(folder, 'main.cjs')).toEqual(DONE);
  expect(await resultOf(folder, 'same.mjs')).toEqual({ same: true, named: true, errors: 13 });
});

test('it is the library of the same version: all exports, and no package that is not declared', async () => {
  const folder = await installed([packed.client]);
  const [library, client] = await Promise.all([
    readFile(join(packed.folder, 'dist', 'index.d.ts'), 'utf8'),
    readFile(join(folder, 'node_modules', 'payment-orders-client', 'types', 'index.d.ts'), 'utf8'),
  ]);
  expect(client).toBe(library);
  const main = JSON.parse(await readFile(join(packed.folder, 'package.json'), 'utf8'));
  const own = JSON.parse(await readFile(join(folder, 'node_modules', 'payment-orders-client', 'package.json'), 'utf8'));
  expect(own.version).toBe(main.version);
  expect(main.dependencies).toMatchObject(own.dependencies);
  expect(Object.keys(own.dependencies)).toEqual(['@types/big.js', '@types/ms', 'big.js', 'lossless-json', 'zod']);
  expect(main.peerDependencies).toMatchObject(own.peerDependencies);
  expect(Object.keys(own.peerDependencies)).toEqual(
    ['client', 'common', 'envconfig', 'proto'].map((name) => `@temporalio/${name}`),
  );
});

test('its types hold without skipLibCheck, for import and require, by node16 and nodenext, of TypeScript 7 and 5', async () => {
  const typed = `
import { ${NAMES}, type OrderInput } from 'payment-orders-client';
import { type TestEnding, testPaymentOrders } from 'payment-orders-client/testing';
${RUN}${PRINT}
export const ending: TestEnding = { parked: 'uncertain-create', next: 'open' };
export const double: PaymentOrders = testPaymentOrders().orders;
export const input: OrderInput<'withdraw'> = {
  // @ts-expect-error -- An amount is a text.
  order: { order_id: 'a', currency: 'usd', network: 'card', amount: 1, wallet: '4111111111111111' },
};
`;
  const compilers = ['typescript@7.0.2', 'typescript-5@npm:typescript@5.9.3', '@types/node@20.19.43'];
  const folder = await installed([packed.client, ...compilers], { 'main.mts': typed, 'main.cts': typed });
  for (const compiler of ['typescript', 'typescript-5']) {
    for (const kind of ['node16', 'nodenext']) {
      const options = [
        '--strict',
        '--target',
        'es2022',
        '--module',
        kind,
        '--moduleResolution',
        kind,
        '--types',
        'node',
      ];
      const compile = [`node_modules/${compiler}/bin/tsc`, ...options, 'main.mts', 'main.cts'];
      await execa(process.execPath, compile, { cwd: folder });
    }
  }
  expect(await resultOf(folder, 'main.mjs')).toEqual(DONE);
  expect(await resultOf(folder, 'main.cjs')).toEqual(DONE);
});

/** A unit test of a caller: the double of the package throws the errors of the package. */
const DOUBLE = `
async function run() {
  const { orders, ends } = testPaymentOrders();
  ends('doubled', { failure: 'OrderRejected' });
  const order = { ...JSON.parse(process.env.INPUT ?? '').order, order_id: 'doubled' };
  const failed = await orders.create('withdraw', { order }).catch((error) => error);
  return { failed: isClientError(failed) && failed.type, same: orders instanceof PaymentOrders };
}
`;

test('its double for unit tests works by import and by require, and throws the same errors', async () => {
  const folder = await installed([packed.client], {
    'double.mjs': `${IMPORTS}import { testPaymentOrders } from 'payment-orders-client/testing';${DOUBLE}${PRINT}`,
    'double.cjs': `${REQUIRES}const { testPaymentOrders } = require('payment-orders-client/testing');${DOUBLE}${PRINT}`,
  });
  for (const name of ['double.mjs', 'double.cjs']) {
    expect(await resultOf(folder, name)).toEqual({ failed: 'OrderRejected', same: true });
  }
});

const TEST = `
test('pays', async () => {
  expect(await run()).toEqual(${JSON.stringify(DONE)});
}, 150_000);
`;

test('Jest loads it without configuration, by require and by import', async () => {
  const folder = await installed([packed.client, 'jest@30'], {
    'require.test.js': `${REQUIRES}${RUN_JS}${TEST}`,
    'import.test.mjs': `${IMPORTS}${RUN_JS}${TEST}`,
  });
  expect((await start(folder, 'jest', 'require')).stderr).toContain('1 passed');
  // Jest itself needs this flag of Node.js for tests that are ES modules.
  const jest = ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js', 'import'];
  expect((await start(folder, process.execPath, ...jest)).stderr).toContain('1 passed');
});

test('Vitest loads it', async () => {
  const folder = await installed([packed.client, 'vitest@4'], {
    'import.test.mjs': `import { expect, test } from 'vitest';\n${IMPORTS}${RUN_JS}${TEST}`,
  });
  expect((await start(folder, 'vitest', 'run')).stdout).toContain('1 passed');
});

test('a bundle of esbuild for Node.js has all of it', async () => {
  const folder = await installed([packed.client, 'esbuild@0.28.2'], { 'main.mjs': `${IMPORTS}${RUN_JS}${PRINT}` });
  const options = ['--bundle', '--platform=node', '--outfile=bundle/main.cjs'];
  await execa('esbuild', ['main.mjs', ...options], { cwd: folder, preferLocal: true });
  await execa('rm', ['-r', 'node_modules'], { cwd: folder });
  expect(await resultOf(folder, 'bundle/main.cjs')).toEqual(DONE);
});
