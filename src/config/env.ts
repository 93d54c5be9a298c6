/** Environment as read at start. Only `config.ts` reads `process.env`. */
export type Env = Readonly<Record<string, string | undefined>>;

/** Readers of settings: W worker, R receiver, A API, C codec endpoint, L library and starter. */
export type Reader = 'W' | 'R' | 'A' | 'C' | 'L';

/** Invalid configuration: one line per mistake with its variable, never with a value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly kind = 'config';

  constructor(readonly problems: readonly string[]) {
    super(problems.join('\n'));
  }
}

/** Collects mistakes, so that an operator sees all of them. */
export class Problems {
  readonly #lines = new Set<string>();
  readonly #env: Env;

  /** `env`: contains the allowances. */
  constructor(env: Env) {
    this.#env = env;
  }

  /** Records a mistake of one variable. */
  add(variable: string, reason: string): void {
    this.#lines.add(`${variable}: ${reason}`);
  }

  /** Records a weak setting as a mistake, unless its ALLOW_… variable permits it. */
  weak(allowance: `ALLOW_${string}`, variable: string, reason: string): void {
    if (this.#env[allowance] !== 'true') this.add(variable, `${reason} (or say ${allowance}=true)`);
  }

  /** Throws ConfigError if anything was recorded. */
  throwIfAny(): void {
    if (this.#lines.size > 0) throw new ConfigError([...this.#lines]);
  }
}
