/** Environment as read at start. `config.ts` is the only place of `src` that looks at `process.env`. */
export type Env = Readonly<Record<string, string | undefined>>;

/** Reader of a setting: worker, receiver, API, codec endpoint, or L the library and the starter. */
export type Reader = 'W' | 'R' | 'A' | 'C' | 'L';

/** Bad configuration: one line per mistake, each naming its variable and never showing a value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly kind = 'config';

  constructor(readonly problems: readonly string[]) {
    super(problems.join('\n'));
  }
}

/** Collects mistakes, so that an operator sees all of them at once. */
export class Problems {
  readonly #lines = new Set<string>();
  readonly #env: Env;

  /** `env`: where allowances stand. */
  constructor(env: Env) {
    this.#env = env;
  }

  /** Records a mistake of one variable. */
  add(variable: string, reason: string): void {
    this.#lines.add(`${variable}: ${reason}`);
  }

  /** Records a weak setting as a mistake, unless its allowance permits it explicitly. */
  weak(allowance: `ALLOW_${string}`, variable: string, reason: string): void {
    if (this.#env[allowance] !== 'true') this.add(variable, `${reason} (or say ${allowance}=true)`);
  }

  /** Throws ConfigError if anything was recorded. */
  throwIfAny(): void {
    if (this.#lines.size > 0) throw new ConfigError([...this.#lines]);
  }
}
