import type { Env, Problems } from './env.js';

/**
 * Options of Node.js and V8 that open no port, write no memory down and weaken no protocol: modules, memory, warnings, DNS, FIPS.
 * Every other option needs ALLOW_DEBUGGING, also one of a later version.
 */
const HARMLESS_OPTIONS = new Set(
  `r require import C conditions loader experimental-loader enable-source-maps preserve-symlinks preserve-symlinks-main
  addons global-search-paths env-file env-file-if-exists input-type title icu-data-dir node-snapshot watch watch-path
  experimental-require-module experimental-detect-module experimental-vm-modules experimental-wasm-modules strip-types
  experimental-strip-types experimental-transform-types experimental-import-meta-resolve experimental-fetch experimental-websocket experimental-eventsource experimental-webstorage
  permission experimental-permission allow-fs-read allow-fs-write allow-net allow-addons allow-worker allow-wasi
  allow-child-process disable-proto disallow-code-generation-from-strings frozen-intrinsics disable-sigusr1
  verify-base-objects force-context-aware disable-wasm-trap-handler zero-fill-buffers secure-heap secure-heap-min
  max-old-space-size max-old-space-size-percentage max-semi-space-size min-semi-space-size semi-space-growth-factor
  max-heap-size initial-heap-size initial-old-space-size huge-max-old-generation-size stack-size optimize-for-size
  lite-mode jitless single-threaded expose-gc gc-interval trace-gc v8-pool-size use-largepages max-http-header-size
  warnings deprecation pending-deprecation throw-deprecation disable-warning trace-warnings trace-deprecation
  trace-exit trace-sigint stack-trace-limit unhandled-rejections extra-info-on-fatal-exception
  dns-result-order network-family-autoselection enable-network-family-autoselection
  network-family-autoselection-attempt-timeout use-system-ca use-bundled-ca use-openssl-ca enable-fips force-fips
  tls-min-v1.2 tls-min-v1.3 tls-max-v1.2 tls-max-v1.3`.split(/\s+/),
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

/** Returns the option of a word without its value, unless it is harmless. Node.js reads `_` in options as `-`. */
function dangerousOption(word: string): string[] {
  const option = word.replace(/=.*/s, '').replaceAll('_', '-');
  return HARMLESS_OPTIONS.has(option.replace(/^--?(no-)?/, '')) ? [] : [option];
}
