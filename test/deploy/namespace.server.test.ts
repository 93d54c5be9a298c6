import { randomUUID } from 'node:crypto';
import { delimiter, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { findTemporalCli } from '../../scripts/temporal/find-cli.js';
import { SEARCH_ATTRIBUTES } from '../../src/contract/names.js';
import { useNamespace } from '../support/temporal.js';

const SCRIPT = fileURLToPath(new URL('../../deploy/temporal/set-up-namespace.sh', import.meta.url));
const DAY_S = 24 * 3600;

const temporal = useNamespace();

test('the set-up makes a namespace that keeps closed orders for 30 days and has every search attribute, and may run again', async () => {
  const cli = await findTemporalCli(() => undefined);
  const namespace = `set-up-${randomUUID()}`;
  const PATH = [dirname(cli), process.env.PATH].join(delimiter);
  const env = { PATH, HOME: process.env.HOME, TEMPORAL_ADDRESS: temporal.address, TEMPORAL_NAMESPACE: namespace };
  const setUp = async () =>
    expect((await execa('sh', [SCRIPT], { env, extendEnv: false })).stdout).toMatch(`namespace ${namespace} is ready`);
  await setUp();
  const { workflowService, operatorService } = temporal.client.connection;
  const kept = async () => {
    const { config } = await workflowService.describeNamespace({ namespace });
    return Number(config?.workflowExecutionRetentionTtl?.seconds);
  };
  expect(await kept()).toBe(30 * DAY_S);
  await execa(cli, ['operator', 'namespace', 'update', '-n', namespace, '--retention', '365d'], {
    env,
    extendEnv: false,
  });
  await setUp();
  expect(await kept()).toBe(365 * DAY_S);
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
  expect(Object.keys(customAttributes).sort()).toEqual(Object.keys(SEARCH_ATTRIBUTES).sort());
});
