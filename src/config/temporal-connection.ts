import { existsSync } from 'node:fs';
import type { ConnectionOptions } from '@temporalio/client';
import { type ClientConfigProfile, loadClientConfigProfile, toClientOptions } from '@temporalio/envconfig';
import type { Env, Problems } from './env.js';
import { asciiProblem, isLoopback } from './formats.js';
import { refuseUncheckedCertificates } from './runtime.js';
import { readSettingsFile } from './secret-files.js';

const DEFAULT_ADDRESS = 'localhost:7233';

const MORE_THAN_HOST = /^(https?|grpcs?|tcp):\/\/|\/$|\s/i;
const HOST_ONLY = `must be host:port, such as ${DEFAULT_ADDRESS}: leave the scheme, the path and blanks out. For TLS, set TEMPORAL_TLS=true`;

/** A Temporal server and namespace. Clients and workers connect by the same options. */
export interface TemporalTarget {
  connectionOptions: Pick<ConnectionOptions, 'address' | 'tls' | 'metadata'> & { apiKey?: string };
  address: string;
  namespace: string;
}

/** Reads the connection as @temporalio/envconfig defines it by `TEMPORAL_*`. */
export function readTemporalTarget(env: Env, problems: Problems): TemporalTarget {
  checkSettings(env, problems);
  const { connectionOptions, namespace = 'default', tls } = connectConfig(env, problems);
  const address = connectionOptions.address ?? DEFAULT_ADDRESS;
  const problem = MORE_THAN_HOST.test(address) ? HOST_ONLY : asciiProblem(`https://${address}`);
  if (problem) problems.add('TEMPORAL_ADDRESS', problem);
  else checkProtection(env, address, Boolean(connectionOptions.tls), problems);
  if (tls?.clientKey && 'path' in tls.clientKey) {
    readSettingsFile(tls.clientKey.path, problems, { variable: 'TEMPORAL_TLS_CLIENT_KEY_PATH' });
  }
  return { connectionOptions, address, namespace };
}

/** Refuses words that @temporalio/envconfig would silently read as false. */
function checkSettings(env: Env, problems: Problems): void {
  for (const name of ['TEMPORAL_TLS', 'TEMPORAL_TLS_DISABLE_HOST_VERIFICATION']) {
    if (env[name] && !/^(true|false|1|0)$/.test(env[name])) problems.add(name, 'must be true or false');
  }
  const file = env.TEMPORAL_CONFIG_FILE;
  if (!file) return;
  if (!existsSync(file)) problems.add('TEMPORAL_CONFIG_FILE', 'must be a file that exists');
  const holdsSecret = (text: string) => /^\s*(api_key|client_key_data|auth|authorization)\b/m.test(text);
  readSettingsFile(file, problems, { variable: 'TEMPORAL_CONFIG_FILE' }, holdsSecret);
}

type ConnectConfig = ReturnType<typeof toClientOptions> & Pick<ClientConfigProfile, 'tls'>;

/** Omits the reader's messages: they may quote an API key of the file. */
function connectConfig(env: Env, problems: Problems): ConnectConfig {
  try {
    // A command-line user's file may have unknown fields; a file named here may not.
    const configFileStrict = Boolean(env.TEMPORAL_CONFIG_FILE);
    const profile = loadClientConfigProfile({ overrideEnvVars: env as Record<string, string>, configFileStrict });
    return { ...toClientOptions(profile), tls: profile.tls };
  } catch (error) {
    const { code, line } = error as { code?: string; line?: number };
    const why = code ?? (line === undefined ? 'not valid' : `not valid TOML at line ${line}`);
    const check = 'Check TEMPORAL_CONFIG_FILE and the files that TEMPORAL_TLS_* name';
    problems.add('TEMPORAL_*', `the connection's settings cannot be read (${why}). ${check}`);
    return { connectionOptions: {} };
  }
}

function checkProtection(env: Env, address: string, isTls: boolean, problems: Problems): void {
  if (isTls) refuseUncheckedCertificates(env, problems);
  if (isTls || isLoopback(address.replace(/:\d+$/, ''))) return;
  const remedy = 'set TEMPORAL_TLS=true or an API key';
  const what = `is not of this machine, and without TLS everybody on the way reads and changes payments: ${remedy}`;
  problems.weak('ALLOW_PLAIN_TEMPORAL', 'TEMPORAL_ADDRESS', what);
}
