import { inspect } from 'node:util';

/** A secret that shows itself only when asked: logs, JSON and inspection print a placeholder. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The secret itself. */
  reveal(): string {
    return this.#value;
  }

  /** Placeholder for string contexts. */
  toString(): string {
    return '[secret]';
  }

  /** Placeholder for JSON. */
  toJSON(): string {
    return '[secret]';
  }

  /** Placeholder for console and loggers. */
  [inspect.custom](): string {
    return '[secret]';
  }
}

/** Several secrets in an ordinary array that shows itself no more than a Secret does. Make it with `SecretList.from`. */
export class SecretList extends Array<string> {
  /** Placeholder for string contexts. */
  override toString(): string {
    return '[secret]';
  }

  /** Placeholder for JSON. */
  toJSON(): string {
    return '[secret]';
  }

  /** Placeholder for console and loggers. */
  [inspect.custom](): string {
    return '[secret]';
  }
}
