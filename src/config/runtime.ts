import type { Env, Problems } from './env.js';

/**
 * Options of Node.js and V8 that open a debugger, write memory or keys to files or logs, or make HTTP or TLS less strict. Node.js
 * reads `_` in options as `-`.
 */
const DANGEROUS_OPTION =
  /^--?(inspect|debug|prof|cpu-prof|perf|heap|report|diagnostic|abort|log|redirect|trace-(event|tls|sync)|tls-(keylog|cipher|min-v1\.[01])|openssl|security-revert|insecure|experimental-default-config)/;

const LOGGED = 'writes keys and request bodies to the log: unset it';
const WEAKENS_TLS = 'changes what TLS accepts: unset it';

const DANGEROUS_VARIABLES = {
  NODE_DEBUG: LOGGED,
  NODE_DEBUG_NATIVE: LOGGED,
  NODE_V8_COVERAGE: 'writes a profile to files: unset it',
  SSLKEYLOGFILE: 'writes the keys of TLS to a file: unset it',
  OPENSSL_CONF: WEAKENS_TLS,
  OPENSSL_MODULES: WEAKENS_TLS,
  OPENSSL_ENGINES: WEAKENS_TLS,
  GRPC_SSL_CIPHER_SUITES: WEAKENS_TLS,
};

/** No allowance: an authority of one's own is always possible. */
export function refuseUncheckedCertificates(env: Env, problems: Problems): void {
  if (env.NODE_TLS_REJECT_UNAUTHORIZED !== '0') return;
  const instead = 'name an authority of your own in NODE_EXTRA_CA_CERTS instead';
  problems.add('NODE_TLS_REJECT_UNAUTHORIZED', `must not be 0: ${instead}`);
}

/** Refuses what the environment, or the command line, makes of Node.js itself, where that opens a hole. */
export function checkRuntime(env: Env, problems: Problems, commandLine: readonly string[] = process.execArgv): void {
  refuseUncheckedCertificates(env, problems);
  const check = (variable: string, words: readonly string[]) => {
    const options = words.map((word) => word.replace(/=.*/s, '').replaceAll('_', '-'));
    const found = options.filter((option) => DANGEROUS_OPTION.test(option));
    if (found.length === 0) return;
    const what = 'may open a debugger, write secrets to files or logs, or make HTTP or TLS less strict: take it out';
    problems.weak('ALLOW_DEBUGGING', variable, `${found.join(', ')} ${what}`);
  };
  // Node.js drops quotes inside words, too.
  check('NODE_OPTIONS', (env.NODE_OPTIONS ?? '').replaceAll(/["\\]/g, '').split(/\s+/));
  check('command line of node', commandLine);
  for (const [variable, reason] of Object.entries(DANGEROUS_VARIABLES)) {
    if (env[variable]) problems.weak('ALLOW_DEBUGGING', variable, reason);
  }
}
