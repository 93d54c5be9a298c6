/** Environment as read at start. `config.ts` is the only place of `src` that looks at `process.env`. */
export type Env = Readonly<Record<string, string | undefined>>;

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

  /** Notes a mistake of one variable. */
  add(variable: string, reason: string): void {
    this.#lines.add(`${variable}: ${reason}`);
  }

  /** Throws ConfigError when anything was noted. */
  throwIfAny(): void {
    if (this.#lines.size > 0) throw new ConfigError([...this.#lines]);
  }
}
