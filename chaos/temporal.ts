import { setTimeout as sleep } from 'node:timers/promises';
import { type DevServer, freePort, startDevServer } from '../scripts/temporal/dev-server.js';

const ATTEMPTS = 5;

/** A Temporal server that can be killed and goes on from its database at the same address. */
export class MortalTemporal {
  kills = 0;
  #server: DevServer;

  private constructor(
    server: DevServer,
    private readonly port: number,
    private readonly dbFile: string,
  ) {
    this.#server = server;
  }

  static async start(dbFile: string, log: (line: string) => void): Promise<MortalTemporal> {
    const port = await freePort();
    return new MortalTemporal(await startDevServer({ log, dbFile, port }), port, dbFile);
  }

  get address(): string {
    return this.#server.address;
  }

  get namespace(): string {
    return this.#server.namespace;
  }

  /** SIGKILL, then a new server on the same database and port; resolves when it can be used. */
  async killAndRestart(): Promise<void> {
    this.kills += 1;
    await this.#server.kill();
    for (let attempt = 1; ; attempt += 1) {
      try {
        this.#server = await startDevServer({ log: () => {}, dbFile: this.dbFile, port: this.port });
        return;
      } catch (error) {
        // The port can stay taken for a moment.
        if (attempt === ATTEMPTS) throw error;
        await sleep(1_000);
      }
    }
  }

  stop(): Promise<void> {
    return this.#server.stop();
  }
}
