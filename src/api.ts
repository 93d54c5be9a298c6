#!/usr/bin/env node
import { pino } from 'pino';
import { Counter, Registry } from 'prom-client';
import { startApi } from './api/server.js';
import { PaymentOrders } from './client.js';
import { loadApiConfig } from './config.js';
import { startMonitoring, temporalReachable } from './monitoring/server.js';
import { namesOf } from './preflight/findings.js';
import { checkStart, START_WITHIN } from './preflight/start.js';
import { LOG_HOOKS } from './print.js';
import { exitOnFailure, refuseArguments, sayReady, untilStopped } from './process.js';
import { connectTemporal } from './temporal.js';

refuseArguments('payment-orders-api', 'Starts, shows and decides orders over HTTP, for callers without Temporal.');

/** Runs the API: the library over HTTP. Holds no service secret. */
await exitOnFailure(async () => {
  const config = loadApiConfig();
  const { logLevel, metricsAddress } = config.monitoring;
  const log = pino({ level: logLevel, hooks: LOG_HOOKS, base: { service: 'payment-orders-api' } }, pino.destination(2));
  const tracing = config.traced ? await import('./api/tracing.js') : undefined;
  const stopTracing = tracing?.startTracing('payment-orders-api');
  const { client } = await connectTemporal(config, START_WITHIN, { workflow: tracing && [tracing.traceStarts] });
  const findings = await checkStart({ client, config }, 'A', (level, text, about) =>
    log[level === 'warning' ? 'warn' : level === 'note' ? 'info' : 'error'](about, text),
  );
  const whyNotReady = temporalReachable(client.connection, client.options.namespace);
  const registry = new Registry();
  const answered = new Counter({
    name: 'payment_api_requests_total',
    help: 'requests answered by the API, by route and status',
    labelNames: ['answer', 'route'],
    registers: [registry],
  });
  const api = await startApi({
    ...config,
    orders: new PaymentOrders(client),
    log,
    whyNotReady,
    within: tracing?.within,
    onAnswer: (answer, route) => answered.inc({ answer, route }),
  });
  const monitoring = await startMonitoring(metricsAddress, { whyNotReady, registry });
  const stopped = untilStopped(async () => {
    await Promise.all([api.close(), monitoring?.close()]);
    await stopTracing?.();
  });
  const keys = config.keys ? config.keys.length : 'none';
  const shown = `${monitoring ? ` metrics=${monitoring.url}` : ''}${tracing ? ' traces=otlp' : ''} namespace=${client.options.namespace} keys=${keys}`;
  sayReady(`api=${api.url}${shown}`, config.allowed, namesOf(findings));
  await stopped;
});
