import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { ConfigError } from '../../src/config.js';
import { connectTemporal } from '../../src/temporal.js';

afterEach(() => {
  vi.unstubAllEnvs();
});

async function configFile(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'payment-orders-config-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'temporal.toml');
  await writeFile(file, text);
  return file;
}

const refusal = (): Promise<Error> =>
  connectTemporal().then(
    () => expect.fail('it connected'),
    (error: Error) => error,
  );

test('a configuration file that cannot be read is bad configuration, and nothing of it is repeated', async () => {
  vi.stubEnv(
    'TEMPORAL_CONFIG_FILE',
    await configFile('[profile.default]\naddress = "127.0.0.1:1"\napi_key = SECRETKEY123\n'),
  );
  const error = await refusal();
  expect(error).toBeInstanceOf(ConfigError);
  expect(error.message).toMatch(/^TEMPORAL_\*: .*not valid TOML at line 3.*TEMPORAL_CONFIG_FILE[^\n]*$/);
  expect(error.message).not.toContain('SECRETKEY');
});

test('a certificate that is not there is bad configuration', async () => {
  vi.stubEnv('TEMPORAL_TLS_CLIENT_CERT_PATH', join(tmpdir(), 'no-such-certificate.pem'));
  vi.stubEnv('TEMPORAL_TLS_CLIENT_KEY_PATH', join(tmpdir(), 'no-such-key.pem'));
  const error = await refusal();
  expect(error).toBeInstanceOf(ConfigError);
  expect(error.message).toContain('ENOENT');
});
