import { setTimeout as sleep } from 'node:timers/promises';
import { type DevServer, freePort, startDevServer } from '../scripts/temporal/dev-server.js';
import { preparePostgresTemporal } from '../scripts/temporal/postgres-server.js';

const ATTEMPTS = 5;

/** A Temporal server that can be killed and goes on from its database at the same address. */
export class MortalTemporal {
  kills = 0;
  #server: DevServer;

  private constructor(
    server: DevServer,
    private readonly launch: () => Promise<DevServer>,
    private readonly stopDatabase: () => Promise<void>,
  ) {
    this.#server = server;
  }

  /** The dev server on SQLite. */
  static async start(dbFile: string, log: (line: string) => void): Promise<MortalTemporal> {
    const port = await freePort();
    const launch = () => startDevServer({ log: () => {}, dbFile, port });
    return new MortalTemporal(await startDevServer({ log, dbFile, port }), launch, async () => {});
  }

  /** The server of an installation, on a PostgreSQL of its own. */
  static async startOnPostgres(folder: string, log: (line: string) => void): Promise<MortalTemporal> {
    const { start, stop } = await preparePostgresTemporal(folder, log);
    try {
      return new MortalTemporal(await start(), start, stop);
    } catch (error) {
      await stop();
      throw error;
    }
  }

  get address(): string {
    return this.#server.address;
  }

  get pid(): number {
    return this.#server.pid;
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
        this.#server = await this.launch();
        return;
      } catch (error) {
        // The port can stay taken for a moment.
        if (attempt === ATTEMPTS) throw error;
        await sleep(1_000);
      }
    }
  }

  async stop(): Promise<void> {
    await this.#server.stop();
    await this.stopDatabase();
  }
}
