import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { MAX_CALLBACK_BODY_BYTES } from '../../src/receiver/server.js';

/** What is attacked: a port of this machine, and nothing else. */
export interface Target {
  port: number;
  /** True: the proxy, which speaks TLS. */
  tls: boolean;
  /** Path of an order's callback URL that got into wrong hands. */
  leakedPath: string;
  /** The same of a permanent address. */
  leakedAddressPath: string;
}

/** How one socket of an attack behaves from its opening on; it is opened again when it was closed. */
interface Attack {
  sockets: number;
  /** True: every socket comes from an address of its own. */
  many?: boolean;
  /** Pause before a socket is opened again, 20 ms when omitted: the attacker must not be busier than what it attacks. */
  reopenMs?: number;
  behave: (socket: Socket, target: Target, index: number) => void;
}

const REOPEN_MS = 20;
/** A slow attacker is no flood of connections, which the system and not the receiver has to stand. */
const SLOW_REOPEN_MS = 250;
const DRIP_MS = 500;

const WRONG_PATH = `/callbacks/default/o.aW52b2ljZS0x.${'A'.repeat(43)}`;
const head = (path: string, length: number): string =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${length}\r\n\r\n`;

/** Writes a little now and then, for as long as the socket lives. */
function drip(socket: Socket, text: string): void {
  const timer = setInterval(() => socket.write(text), DRIP_MS);
  socket.on('close', () => clearInterval(timer));
}

/** A third says nothing, a third never ends its headers, a third never ends its body. */
function slow(socket: Socket, _target: Target, index: number): void {
  socket.resume();
  if (index % 3 === 1) {
    socket.write(`POST ${WRONG_PATH} HTTP/1.1\r\nHost: localhost\r\n`);
    drip(socket, 'X-A: b\r\n');
  }
  if (index % 3 === 2) {
    socket.write(head(WRONG_PATH, 1_000));
    drip(socket, ' ');
  }
}

const PIPELINED = Buffer.from(head(WRONG_PATH, 0).repeat(512));

/** As many requests as fit, without waiting for answers, which half of the sockets do not even read. */
function pipeline(socket: Socket, _target: Target, index: number): void {
  if (index % 2 === 0) socket.resume();
  const fill = (): void => {
    while (socket.writable && socket.write(PIPELINED));
  };
  socket.on('drain', fill);
  fill();
}

/** Sends one request after the other, the next one as soon as something was answered. */
function oneByOne(socket: Socket, next: () => Buffer): void {
  socket.on('data', () => {
    if (socket.writable) socket.write(next());
  });
  socket.write(next());
}

const LARGE = Buffer.concat([Buffer.from(head(WRONG_PATH, 65_536)), Buffer.alloc(65_536, ' ')]);

/** The largest body of a leaked URL but for its end, which never comes. */
const unended = (path: string): Buffer =>
  Buffer.concat([Buffer.from(head(path, MAX_CALLBACK_BODY_BYTES)), Buffer.alloc(MAX_CALLBACK_BODY_BYTES - 1, ' ')]);

const KEY_LENGTH = 4;
/** As many keys as the largest body has: each takes 9 bytes. */
const MOST_KEYS = Math.floor((MAX_CALLBACK_BODY_BYTES - 200) / 9);
/** Keys are cut out of it: to make them one by one would cost the attacker more than the receiver. */
const KEYS = randomBytes(300_000).toString('base64url');

/** A callback of so many keys, none of which another one has: those that a parser has seen before cost it little. */
function manyKeys(path: string, keys: number): Buffer {
  const [from, number] = [Math.floor(Math.random() * (KEYS.length - keys * KEY_LENGTH)), Math.random()];
  let body = `{"order_uuid":"forged-${`${number}`.slice(2)}","status":"completed"`;
  for (let at = from; at < from + keys * KEY_LENGTH; at += KEY_LENGTH)
    body += `,"${KEYS.slice(at, at + KEY_LENGTH)}":1`;
  return Buffer.from(`${head(path, body.length + 1)}${body}}`);
}

/** Expensive bodies for a path: every second one is as large as the receiver allows, the others are larger. */
function expensive(path: string): () => Buffer {
  let sent = 0;
  return () => {
    sent += 1;
    return manyKeys(path, sent % 2 === 0 ? MOST_KEYS : 2 * MOST_KEYS);
  };
}

/** All attacks by name. */
export const ATTACKS = {
  none: { sockets: 0, behave: () => undefined },
  slow: { sockets: 1_000, reopenMs: SLOW_REOPEN_MS, behave: slow },
  'slow-many': { sockets: 1_000, many: true, reopenMs: SLOW_REOPEN_MS, behave: slow },
  pipeline: { sockets: 200, behave: pipeline },
  bodies: { sockets: 400, behave: (socket) => oneByOne(socket, () => LARGE) },
  leaked: { sockets: 400, behave: (socket, { leakedPath }) => oneByOne(socket, expensive(leakedPath)) },
  'leaked-address': {
    sockets: 400,
    behave: (socket, { leakedAddressPath }) => oneByOne(socket, expensive(leakedAddressPath)),
  },
  'leaked-slow': {
    sockets: 1_000,
    many: true,
    reopenMs: SLOW_REOPEN_MS,
    behave: (socket, { leakedPath }) => void socket.resume().write(unended(leakedPath)),
  },
} satisfies Record<string, Attack>;

/** Name of an attack. */
export type AttackName = keyof typeof ATTACKS;

/** The sender of a lane: 127.0.0.1, or an address of its own in 127.1.0.0/16. */
const addressOf = (index: number, many: boolean): string =>
  many ? `127.1.${Math.floor(index / 250)}.${1 + (index % 250)}` : '127.0.0.1';

/** Attacks until `seconds` have passed; the number of sockets that it opened. */
export async function attack(name: AttackName, target: Target, seconds: number): Promise<number> {
  const { sockets, behave, many = false, reopenMs = REOPEN_MS }: Attack = ATTACKS[name];
  const endsAtMs = performance.now() + seconds * 1_000;
  const open = new Set<Socket>();
  let opened = 0;
  const lane = async (index: number): Promise<void> => {
    while (performance.now() < endsAtMs) {
      const socket = openSocket(target, addressOf(index, many), () => behave(socket, target, index));
      opened += 1;
      open.add(socket);
      await new Promise((resolve) => socket.once('close', resolve));
      open.delete(socket);
      await new Promise((resolve) => setTimeout(resolve, reopenMs));
    }
  };
  const lanes = Array.from({ length: sockets }, (_, index) => lane(index));
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
  for (const socket of open) socket.destroy();
  await Promise.all(lanes);
  return opened;
}

function openSocket({ port, tls }: Target, localAddress: string, onOpen: () => void): Socket {
  const to = { host: '127.0.0.1', port, localAddress };
  const socket = tls ? connectTls({ ...to, rejectUnauthorized: false }) : connect(to);
  socket.once(tls ? 'secureConnect' : 'connect', onOpen);
  // Being cut off is what it is for.
  socket.on('error', () => undefined);
  return socket;
}
