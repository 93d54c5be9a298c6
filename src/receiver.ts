#!/usr/bin/env node
import { pino } from 'pino';
import { Counter, Registry } from 'prom-client';
import { loadReceiverConfig } from './config.js';
import { startMonitoring, temporalReachable } from './monitoring/server.js';
import { namesOf } from './preflight/findings.js';
import { checkStart, START_WITHIN } from './preflight/start.js';
import { LOG_HOOKS } from './print.js';
import { exitOnFailure, refuseArguments, sayReady, untilStopped } from './process.js';
import { startReceiver } from './receiver/server.js';
import { createSignalOrder, createSignalReceived } from './receiver/signals.js';
import { connectTemporal } from './temporal.js';

refuseArguments(
  'payment-orders-receiver',
  'Takes the callbacks of the payment service and wakes the order that each is about.',
);

/**
 * Runs the callback receiver, which verifies callbacks and wakes orders. Holds no service secret.
 */
await exitOnFailure(async () => {
  const config = loadReceiverConfig();
  const { logLevel, metricsAddress } = config.monitoring;
  const log = pino(
    { level: logLevel, hooks: LOG_HOOKS, base: { service: 'payment-orders-receiver' } },
    pino.destination(2),
  );
  const { client } = await connectTemporal(config, START_WITHIN);
  const findings = await checkStart({ client, config }, 'R', (level, text, about) =>
    log[level === 'warning' ? 'warn' : level === 'note' ? 'info' : 'error'](about, text),
  );
  const whyNotReady = temporalReachable(client.connection, client.options.namespace);
  const received = createSignalReceived(client);
  const registry = new Registry();
  const answered = new Counter({
    name: 'payment_callbacks_total',
    help: 'requests answered by the receiver, by answer',
    labelNames: ['answer'],
    registers: [registry],
  });
  const onAnswer = (answer: string): void => answered.inc({ answer });
  const receiver = await startReceiver({
    ...config,
    signal: createSignalOrder(client),
    received,
    log,
    whyNotReady,
    onAnswer,
  });
  const monitoring = await startMonitoring(metricsAddress, { whyNotReady, registry });
  const stopped = untilStopped(() => Promise.all([receiver.close(), monitoring?.close()]).then(() => undefined));
  const shown = `${monitoring ? ` metrics=${monitoring.url}` : ''} namespace=${client.options.namespace}`;
  sayReady(`receiver=${receiver.url}${shown}`, config.allowed, namesOf(findings));
  await stopped;
  // The connection stays open: a retry of a failed signal may still be due.
});
