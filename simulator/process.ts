/** Waits for ever. One promise for all would keep whoever waits for it in memory. */
export const never = (): Promise<never> => new Promise(() => undefined);

/** A process of the product: whoever is killed waits for ever, and whoever is frozen goes on later. */
export class Process {
  isAlive = true;
  /** What ends with it. */
  onEnd: () => void = () => undefined;
  #frozen?: { until: Promise<void>; thaw: () => void };

  constructor(readonly name: string) {}

  /** Nothing of this process goes on after its end, or while it stands still. */
  async runs<T>(what: Promise<T>): Promise<T> {
    const done = await what.then(
      (value) => () => value,
      (error: unknown) => () => {
        throw error;
      },
    );
    await this.thawed();
    if (!this.isAlive) await never();
    return done();
  }

  kill(): void {
    this.isAlive = false;
    this.onEnd();
  }

  /** Stands still until `thaw`: what it was about to do, it does then. */
  freeze(): void {
    if (this.#frozen) return;
    let thaw = (): void => undefined;
    const until = new Promise<void>((resolve) => {
      thaw = resolve;
    });
    this.#frozen = { until, thaw };
  }

  get isFrozen(): boolean {
    return this.#frozen !== undefined;
  }

  thaw(): void {
    this.#frozen?.thaw();
    this.#frozen = undefined;
  }

  async thawed(): Promise<void> {
    await this.#frozen?.until;
  }
}
