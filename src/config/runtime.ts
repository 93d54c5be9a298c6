import type { Env, Problems } from './env.js';

/** Harmless options of Node.js. All others need ALLOW_DEBUGGING. */
const HARMLESS_OPTIONS = new Set(
  `r require import C conditions loader experimental-loader enable-source-maps env-file title icu-data-dir
  experimental-import-meta-resolve experimental-require-module experimental-vm-modules experimental-strip-types
  max-old-space-size max-semi-space-size optimize-for-size jitless expose-gc max-http-header-size
  warnings deprecation throw-deprecation disable-warning trace-warnings trace-deprecation
  stack-trace-limit unhandled-rejections dns-result-order network-family-autoselection
  use-system-ca use-bundled-ca use-openssl-ca enable-fips force-fips tls-min-v1.2 tls-min-v1.3`.split(/\s+/),
);

const WEAKENS_TLS = 'changes what TLS accepts: unset it';

const DANGEROUS_VARIABLES = {
  NODE_DEBUG: 'writes keys and request bodies to the log: unset it',
  NODE_DEBUG_NATIVE: 'writes keys and request bodies to the log: unset it',
  NODE_V8_COVERAGE: 'writes a profile to files: unset it',
  SSLKEYLOGFILE: 'writes the keys of TLS to a file: unset it',
  OPENSSL_CONF: WEAKENS_TLS,
  OPENSSL_MODULES: WEAKENS_TLS,
  OPENSSL_ENGINES: WEAKENS_TLS,
  GRPC_SSL_CIPHER_SUITES: WEAKENS_TLS,
};

/** No allowance, because a custom authority is always possible. */
export function refuseUncheckedCertificates(env: Env, problems: Problems): void {
  if (env.NODE_TLS_REJECT_UNAUTHORIZED !== '0') return;
  const instead = 'name an authority of your own in NODE_EXTRA_CA_CERTS instead';
  problems.add('NODE_TLS_REJECT_UNAUTHORIZED', `must not be 0: ${instead}`);
}

/** Refuses options of Node.js that open a hole. */
export function checkRuntime(env: Env, problems: Problems, commandLine: readonly string[] = process.execArgv): void {
  refuseUncheckedCertificates(env, problems);
  const check = (variable: string, words: readonly string[]) => {
    const found = words.filter((word) => word.startsWith('-') && word !== '--').flatMap(dangerousOption);
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

/**
 * Returns a word's option without its value, unless it is harmless. Node.js accepts `_` for `-`.
 */
function dangerousOption(word: string): string[] {
  const option = word.replace(/=.*/s, '').replaceAll('_', '-');
  return HARMLESS_OPTIONS.has(option.replace(/^--?(no-)?/, '')) ? [] : [option];
}
