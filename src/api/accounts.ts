import type { PaymentOrders } from '../client.js';
import { accountState, stoppedAccounts } from './bodies.js';
import { allowedAccount, requireAmounts } from './callers.js';
import { answers, idParams, instructionBody, namedBody } from './documents.js';
import type { Api } from './server.js';

const REFUSED = { 409: 'Refused: it is stopped already, or not stopped, or the signature does not count' };

/** Adds the routes that stop, resume and show accounts. */
export function addAccountRoutes(api: Api, { accounts }: PaymentOrders): void {
  api.get('/v1/accounts', {
    config: { verbs: ['read'] },
    schema: {
      summary: 'Lists the stopped accounts',
      description: 'A new stop may be missing for a second.',
      response: answers({
        200: ['Stopped accounts', stoppedAccounts],
      }),
    },
    handler: async ({ caller }) => ({ stopped: await accounts.stopped(caller.key?.accounts) }),
  });

  api.get('/v1/accounts/:id', {
    config: { verbs: ['read'] },
    schema: {
      summary: 'Shows whether an account is stopped',
      description: 'A signature of a stop or a resume names runId. An unsigned stop is refused, and opens such a run.',
      params: idParams,
      response: answers({ 200: ['Its state', accountState] }),
    },
    handler: async ({ caller, params }) => accounts.state(allowedAccount(caller, params.id)),
  });

  const add = (name: 'stop' | 'resume', summary: string, description: string): void => {
    api.post(`/v1/accounts/:id/${name}`, {
      config: { verbs: ['decide'] },
      schema: {
        summary,
        description,
        params: idParams,
        body: instructionBody,
        response: answers({ 200: ['Its state', accountState], ...REFUSED }),
      },
      handler: async (request) => {
        const { caller, params } = request;
        const account = allowedAccount(caller, params.id);
        const given = namedBody(request, instructionBody);
        // A resume sends orders of any amount.
        if (name === 'resume') requireAmounts(caller, [{}]);
        await accounts[name](account, given);
        return accounts.state(account);
      },
    });
  };
  add(
    'stop',
    'Sends no create of an account',
    'Works within 2 s. Orders wait; look-ups, callbacks and endings continue.',
  );
  add('resume', 'Ends the stop of an account', 'Waiting orders go on by themselves.');
}
