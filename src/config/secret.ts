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

const PLACEHOLDER = { value: () => '[secret]' };

/** Makes an array of secrets show itself no more than a Secret does. */
export const hidden = (secrets: string[]): string[] =>
  Object.defineProperties(secrets, { toString: PLACEHOLDER, toJSON: PLACEHOLDER, [inspect.custom]: PLACEHOLDER });
