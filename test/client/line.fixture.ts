import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import type { TestNamespace } from '../support/temporal.js';

/** What a line does with bytes: passes them on, loses the server's answers, or loses everything. Nobody is told. */
export type LineMode = 'open' | 'deaf' | 'silent';

/** A TCP line in front of Temporal that can go wrong. */
export interface Line {
  address: string;
  mode: LineMode;
  /** Ends the connections, with what was on the way, and passes new ones on. */
  heal(): void;
  /** Ends the connections and refuses new ones. */
  cut(): Promise<void>;
}

/** Opens a line on a free port of 127.0.0.1. Cut it when done. */
export async function openLine(target: string): Promise<Line> {
  const sockets = new Set<Socket>();
  const [host = '', port] = target.split(':');
  const server = createServer((near) => {
    const far = connect(Number(port), host);
    near.on('data', (bytes) => line.mode !== 'silent' && far.write(bytes));
    far.on('data', (bytes) => line.mode === 'open' && near.write(bytes));
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
      // A side that goes away must not end the process.
      socket.on('error', () => other.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const destroyAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  const line: Line = {
    address: `127.0.0.1:${address.port}`,
    mode: 'open',
    heal: () => {
      line.mode = 'open';
      destroyAll();
    },
    cut: async () => {
      if (!server.listening) return;
      const closed = promisify(server.close.bind(server))();
      destroyAll();
      await closed;
    },
  };
  return line;
}

/** A client of the namespace whose calls go through a line, which has carried one already. */
export async function clientOn(line: Line, { namespace }: TestNamespace): Promise<Client> {
  return new Client({ connection: await Connection.connect({ address: line.address }), namespace });
}
