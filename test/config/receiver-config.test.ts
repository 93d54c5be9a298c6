import { describe, expect, test } from 'vitest';
import { loadReceiverConfig } from '../../src/config.js';
import { problemsOf, TOKEN_KEY, tempFile } from './config.fixture.js';

const problems = (change: Record<string, string | undefined>) =>
  problemsOf(loadReceiverConfig, { CALLBACK_TOKEN_KEY: TOKEN_KEY, ...change });

describe('the receiver’s environment', () => {
  test('needs nothing but the token key, and listens on loopback by default', () => {
    const config = loadReceiverConfig({ CALLBACK_TOKEN_KEY: TOKEN_KEY });
    expect({ ...config, tokenKeys: [...config.tokenKeys] }).toEqual({
      host: '127.0.0.1',
      port: 8080,
      tokenKeys: [TOKEN_KEY],
      monitoring: { logLevel: 'info' },
      allowed: [],
    });
  });

  test.for([
    ['127.0.0.1:9464', '127.0.0.1', 9464],
    ['[::]:0', '::', 0],
  ] as const)('may show its metrics at %s', ([METRICS_ADDRESS, host, port]) => {
    const { monitoring } = loadReceiverConfig({ CALLBACK_TOKEN_KEY: TOKEN_KEY, METRICS_ADDRESS, LOG_LEVEL: 'debug' });
    expect(monitoring).toEqual({ logLevel: 'debug', metricsAddress: { host, port } });
  });

  test('takes several keys, from a file too', () => {
    const env = { CALLBACK_TOKEN_KEY_FILE: tempFile(`${TOKEN_KEY},${TOKEN_KEY}-old\n`) };
    expect([...loadReceiverConfig(env).tokenKeys]).toEqual([TOKEN_KEY, `${TOKEN_KEY}-old`]);
  });

  test.for(['0.0.0.0', '::', 'hooks.internal', 'localhost'])('may listen on %s', (host) => {
    expect(loadReceiverConfig({ CALLBACK_TOKEN_KEY: TOKEN_KEY, CALLBACK_HOST: host }).host).toBe(host);
  });

  test.for([
    ['CALLBACK_TOKEN_KEY', undefined, 'is required (or CALLBACK_TOKEN_KEY_FILE)'],
    ['CALLBACK_TOKEN_KEY', 'zz-short', 'must have at least 16 characters'],
    ['CALLBACK_TOKEN_KEY', `${TOKEN_KEY},zz-short`, 'must have at least 16 characters'],
    // An empty key would verify callbacks that anybody can sign.
    ['CALLBACK_TOKEN_KEY', `${TOKEN_KEY},`, 'must have at least 16 characters'],
    ['CALLBACK_TOKEN_KEY', `,${TOKEN_KEY}`, 'must have at least 16 characters'],
    ['CALLBACK_TOKEN_KEY', `${TOKEN_KEY}, ${TOKEN_KEY}`, 'must not contain blanks, line breaks or control characters'],
    ['CALLBACK_PORT', '65536', 'must be a port number from 0 to 65535'],
    ['CALLBACK_PORT', '-1', 'must be a port number from 0 to 65535'],
    ['CALLBACK_PORT', 'zz', 'must be a port number from 0 to 65535'],
    ['CALLBACK_PORT', '0x50', 'must be a port number from 0 to 65535'],
    ['CALLBACK_HOST', 'http://zz', 'must be a host name or IP address'],
    ['CALLBACK_HOST', 'zz:80', 'must be a host name or IP address'],
    ['CALLBACK_HOST', ' ', 'must be a host name or IP address'],
    ['LOG_LEVEL', 'zz', 'must be debug or info or warn or error'],
    ...['zz', '9464', 'localhost:9464', '::1:9464', '127.0.0.1:65536'].map(
      (value) =>
        ['METRICS_ADDRESS', value, 'must be an IP address and a port such as 127.0.0.1:9464 or [::1]:9464'] as const,
    ),
  ] as const)('%s = %j is one line without the value', ([name, value, reason]) => {
    expect(problems({ [name]: value })).toEqual([`${name}: ${reason}`]);
  });
});
