import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { beforeAll, expect, test } from 'vitest';
import { serviceOf } from '../../scripts/service-of.js';
import { freePort } from '../../scripts/temporal/dev-server.js';
import { run } from '../support/command.js';
import { install, installed, type Packed, packagesIn, packedPackages } from '../support/packed.js';

let packed: Packed;
beforeAll(async () => {
  packed = await packedPackages();
}, 600_000);

test('an installed package has both commands, and next to it the client adds no second copy of anything', async () => {
  const folder = await installed([packed.main]);
  const npx = (...args: string[]) => execa('npx', args, { cwd: folder, reject: false });

  const help = await npx('payment-orders-sandbox', '--help');
  expect(help).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('--fault <place>.<fault>=<share>') });
  const devHelp = await npx('payment-orders-dev', '--help');
  expect(devHelp).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('TEMPORAL_ADDRESS') });
  for (const args of [
    ['payment-orders-dev', '--port=1'],
    ['payment-orders-sandbox', '--fault', 'create.500=2'],
  ]) {
    expect(await npx(...args)).toMatchObject({ exitCode: 2, stdout: '' });
  }

  // A double that answers signed requests, and refuses as it was told.
  const keys = { apiKey: 'key-of-the-test', apiSecret: 'secret-of-the-test' };
  const settings = { SANDBOX_API_KEY: keys.apiKey, SANDBOX_API_SECRET: keys.apiSecret };
  const free = { SANDBOX_PORT: '0', SANDBOX_ADMIN_PORT: '0' };
  const sandbox = await run(folder, 'payment-orders-sandbox', ['--fault', 'rates.503=1'], { ...free, ...settings });
  const url = sandbox.ready.service ?? '';
  const service = await serviceOf({ url, ...keys });
  expect(await service.balances()).toHaveProperty('usd');
  await expect(service.rates()).rejects.toThrow('503');
  const stranger = await serviceOf({ url, ...keys, apiSecret: 'another' });
  await expect(stranger.balances()).rejects.toThrow('401');
  expect(await sandbox.interrupt()).toEqual([]);

  // The whole stack, and a payout through the API.
  const dev = await run(folder, 'payment-orders-dev');
  const { api = '', temporal = '' } = dev.ready;
  const order = { order_id: 'dev-1', currency: 'usd', network: 'card', amount: '12.50', wallet: '4111111111111111' };
  const body = JSON.stringify({ order_type: 'withdraw', order });
  const json = ['-H', 'Content-Type: application/json'];
  const started = await execa('curl', ['-sS', '--fail', ...json, '-d', body, `${api}/v1/orders?wait=30`]);
  expect(JSON.parse(started.stdout)).toMatchObject({ orderId: 'dev-1' });
  const starter = [
    'payment-orders',
    'order',
    'start',
    'withdraw',
    'node_modules/payment-orders/examples/withdraw.json',
  ];
  const other = await execa('npx', [...starter, '--wait'], { cwd: folder, env: { TEMPORAL_ADDRESS: temporal } });
  expect(other.stdout).toContain('completed');
  for (;;) {
    const { stdout } = await execa('curl', ['-sS', '--fail', `${api}/v1/orders/dev-1`]);
    const { outcome } = JSON.parse(stdout);
    if (outcome === 'completed') break;
    expect(outcome).toBeUndefined();
    await sleep(500);
  }
  expect(await dev.interrupt()).toEqual([]);
  // Nobody listens there any more.
  expect(await freePort(Number(temporal.split(':')[1]))).toBeGreaterThan(0);

  const before = await packagesIn(folder);
  await install(folder, [packed.client]);
  const added = [...(await packagesIn(folder)).keys()].filter((path) => !before.has(path));
  expect(added).toEqual(['node_modules/payment-orders-client']);
});
