import { chmodSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { ConfigError, loadTemporalTarget } from '../../src/config.js';
import { connectTemporal } from '../../src/temporal.js';
import { problemsOf, tempFile } from '../config/config.fixture.js';
import { newFolder } from '../support/batch-files.js';

afterEach(() => {
  vi.unstubAllEnvs();
});

async function configFile(text: string): Promise<string> {
  const file = join(newFolder(), 'temporal.toml');
  await writeFile(file, text, { mode: 0o600 });
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

describe('a connection that somebody on the way could read or change', () => {
  const problems = (env: Record<string, string | undefined>) => problemsOf(loadTemporalTarget, env);

  test.for([
    'http://localhost:7233',
    'https://temporal.example:7233',
    'GRPC://127.0.0.1:7233',
    'tcp://temporal:7233',
    'localhost:7233/',
    ' localhost:7233',
  ])('%j is refused for what it has too much, whatever its host', (TEMPORAL_ADDRESS) => {
    expect(problems({ TEMPORAL_ADDRESS })).toEqual([
      'TEMPORAL_ADDRESS: must be host:port, such as localhost:7233: leave the scheme, the path and blanks out. For TLS, set TEMPORAL_TLS=true',
    ]);
  });

  test('a host that is not ASCII is refused with its other form', () => {
    const given = problems({ TEMPORAL_ADDRESS: 'b\u00fcro.example:7233', TEMPORAL_TLS: 'true' });
    expect(given).toEqual([expect.stringContaining('TEMPORAL_ADDRESS: must be in ASCII')]);
  });

  test.for([
    'temporal.example:7233',
    '10.0.0.1:7233',
    '0.0.0.0:7233',
    'temporal:7233',
    '[2001:db8::1]:7233',
    'x.localhost',
  ])('without TLS to %s is refused, unless that is said', (TEMPORAL_ADDRESS) => {
    expect(problems({ TEMPORAL_ADDRESS })).toEqual([
      expect.stringMatching(/^TEMPORAL_ADDRESS: is not of this machine.*TEMPORAL_TLS=true.*ALLOW_PLAIN_TEMPORAL=true/),
    ]);
    expect(problems({ TEMPORAL_ADDRESS }).join()).not.toContain(TEMPORAL_ADDRESS);
    for (const said of [{ ALLOW_PLAIN_TEMPORAL: 'true' }, { TEMPORAL_TLS: 'true' }, { TEMPORAL_API_KEY: 'zz' }]) {
      expect(problems({ TEMPORAL_ADDRESS, ...said })).toEqual([]);
    }
  });

  test.for(['localhost:7233', '127.0.0.1:7233', '127.0.0.1', '[::1]:7233'])(
    'without TLS to %s is of the machine',
    (to) => {
      expect(problems({ TEMPORAL_ADDRESS: to })).toEqual([]);
      expect(problems({})).toEqual([]);
    },
  );

  test.for(['TRUE', 'yes', 'on', 'enabled', ' true'])('TEMPORAL_TLS=%s would mean false', (word) => {
    expect(problems({ TEMPORAL_TLS: word })).toEqual(['TEMPORAL_TLS: must be true or false']);
  });

  test('certificates that nobody checks', () => {
    const env = { TEMPORAL_ADDRESS: 'temporal.example:7233', TEMPORAL_TLS: 'true', NODE_TLS_REJECT_UNAUTHORIZED: '0' };
    expect(problems(env)).toEqual([expect.stringMatching(/^NODE_TLS_REJECT_UNAUTHORIZED: must not be 0/)]);
    expect(problems({ NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toEqual([]);
  });

  test.for(['TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE', 'TEMPORAL_API_KEY', 'TEMPORAL_TLS', 'TEMPORAL_PROFILE'])(
    'an empty %s',
    (name) => {
      expect(problems({ [name]: '' })).toContain(`${name}: is set but empty: give it a value, or unset it`);
    },
  );

  test('a misspelt name', () => {
    expect(problems({ TEMPORAL_API_KEY_FILE: 'zz' })).toEqual([
      'TEMPORAL_API_KEY_FILE: is not a setting: did you mean TEMPORAL_API_KEY?',
    ]);
  });

  test('a configuration file that is not there, has unknown names, or shows its key to others', () => {
    expect(problems({ TEMPORAL_CONFIG_FILE: '/nowhere/zz' })).toEqual([
      'TEMPORAL_CONFIG_FILE: must be a file that exists',
    ]);
    const misspelt = tempFile('[profile.default]\naddress = "127.0.0.1:1"\n[profile.default.tsl]\nserver_name = "x"\n');
    expect(problems({ TEMPORAL_CONFIG_FILE: misspelt })).toEqual([
      expect.stringContaining('cannot be read (not valid)'),
    ]);
    const good = tempFile('[profile.default]\naddress = "127.0.0.1:1"\napi_key = "zz"\n');
    expect(problems({ TEMPORAL_CONFIG_FILE: good })).toEqual([]);
    chmodSync(good, 0o644);
    expect(problems({ TEMPORAL_CONFIG_FILE: good })).toEqual([
      expect.stringMatching(/^TEMPORAL_CONFIG_FILE: may be read.*ALLOW_READABLE_FILES=true/),
    ]);
  });

  test('a client key that others may read', () => {
    const [cert, key] = [tempFile('zz'), tempFile('zz')];
    const env = { TEMPORAL_TLS_CLIENT_CERT_PATH: cert, TEMPORAL_TLS_CLIENT_KEY_PATH: key };
    expect(problems(env)).toEqual([]);
    chmodSync(cert, 0o644);
    expect(problems(env)).toEqual([]);
    chmodSync(key, 0o644);
    expect(problems(env)).toEqual([
      expect.stringMatching(/^TEMPORAL_TLS_CLIENT_KEY_PATH: .*ALLOW_READABLE_FILES=true/),
    ]);
  });
});
