import { inspect } from 'node:util';

/** Secret that logs, JSON and inspection show as a placeholder. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** Returns the secret. */
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

const PLACEHOLDER = { value: () => '[secret]' };

/** Hides an array of secrets in logs in the same way. */
export const hidden = (secrets: string[]): string[] =>
  Object.defineProperties(secrets, { toString: PLACEHOLDER, toJSON: PLACEHOLDER, [inspect.custom]: PLACEHOLDER });
