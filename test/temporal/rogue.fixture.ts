import { randomUUID } from 'node:crypto';
import { Client } from '@temporalio/client';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import proto from '@temporalio/proto';
import { createTaskQueue, lookupTaskQueue, ORDERS_TASK_QUEUE } from '../../src/contract/names.js';
import type { Lab } from '../support/lab.js';

/** Somebody who reaches Temporal and holds no key: the raw service, and a client without any codec. */
export interface Rogue {
  client: Client;
  /** Raw payloads of an event of a workflow's history, as the server hands them to anybody. */
  historyOf(workflowId: string, runId?: string): Promise<Event[]>;
  /** Answers an activity that is under way. */
  answerById(workflowId: string, activityId: string, result: Payloads | null | undefined): Promise<unknown>;
  /** Hands an update in as its bytes; resolves to 'taken' or 'refused'. */
  update(workflowId: string, name: string, args: Payload[]): Promise<'taken' | 'refused'>;
  /** Starts an id anew with the input that it had. */
  startAgain(workflowId: string, history: Event[]): Promise<unknown>;
  /** Answers activity tasks of the default account until it is closed. Resolves to what it answered. */
  answerActivities(answer: AnswerActivity): { answered: string[]; stop(): Promise<void> };
  /** Answers workflow tasks until it is closed. */
  answerWorkflowTasks(command: AnswerWorkflowTask): { answered: string[]; stop(): Promise<void> };
  /** Accepts every update that comes with a workflow task, as no validator would, until it is closed. */
  acceptUpdates(): { answered: string[]; stop(): Promise<void> };
}

type Event = proto.temporal.api.history.v1.IHistoryEvent;
type Payloads = proto.temporal.api.common.v1.IPayloads;
type ActivityTask = proto.temporal.api.workflowservice.v1.IPollActivityTaskQueueResponse;
type WorkflowTask = proto.temporal.api.workflowservice.v1.IPollWorkflowTaskQueueResponse;
type Failure = proto.temporal.api.failure.v1.IFailure;

type WorkflowAnswer = Pick<
  proto.temporal.api.workflowservice.v1.IRespondWorkflowTaskCompletedRequest,
  'commands' | 'messages'
>;

/** What a rogue answers to an activity. */
export type AnswerActivity = (
  task: ActivityTask,
) => { result: Payload } | { failure: Failure } | Promise<{ result: Payload } | { failure: Failure }>;

/** The commands that a rogue answers a workflow task with. */
export type AnswerWorkflowTask = (task: WorkflowTask) => proto.temporal.api.command.v1.ICommand[];

const { Acceptance, Request } = proto.temporal.api.update.v1;
const TYPE_OF_ACCEPTANCE = 'type.googleapis.com/temporal.api.update.v1.Acceptance';

/** The message that takes the update which another one asks for, and the command that carries it. */
function acceptanceOf(asked: proto.temporal.api.protocol.v1.IMessage) {
  const acceptance = Acceptance.encode({
    acceptedRequestMessageId: asked.id,
    acceptedRequestSequencingEventId: asked.eventId,
    acceptedRequest: Request.decode(asked.body?.value ?? new Uint8Array()),
  });
  const id = `${asked.id}/accept`;
  const body = { type_url: TYPE_OF_ACCEPTANCE, value: acceptance.finish() };
  return {
    message: { id, protocolInstanceId: asked.protocolInstanceId, body },
    command: {
      commandType: proto.temporal.api.enums.v1.CommandType.COMMAND_TYPE_PROTOCOL_MESSAGE,
      protocolMessageCommandAttributes: { messageId: id },
    },
  };
}

/** The arguments of the updates of a name that a history has, oldest first, as anybody reads them. */
export const updatesIn = (events: readonly Event[], name: string): Payload[][] =>
  events
    .map((event) => event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input)
    .flatMap((input) => (input?.name === name ? [input.args?.payloads ?? []] : []));

/** A payload as anybody writes it. */
export const plain = (value: unknown): Payload => defaultPayloadConverter.toPayload(value) as Payload;

/** A rogue at a lab's namespace. */
export function rogueAt(lab: Lab): Rogue {
  const { connection } = lab.temporal.client;
  const { namespace } = lab.temporal;
  const client = new Client({ connection, namespace, identity: 'rogue' });
  const service = client.workflowService;
  const loop = (turns: number, take: (answered: string[]) => Promise<void>) => {
    const answered: string[] = [];
    let stopped = false;
    const run = async () => {
      // The server refuses a poll that would wait for less than a few seconds.
      while (!stopped) {
        await client.withDeadline(Date.now() + 5_000, () => take(answered)).catch(() => undefined);
      }
    };
    const running = Array.from({ length: turns }, run);
    const stop = async (): Promise<void> => {
      stopped = true;
      await Promise.all(running);
    };
    return { answered, stop };
  };
  const workflowTasks = (answer: (task: WorkflowTask) => WorkflowAnswer) =>
    loop(2, async (answered) => {
      const taskQueue = { name: ORDERS_TASK_QUEUE };
      const task = await service.pollWorkflowTaskQueue({ namespace, taskQueue, identity: 'rogue' });
      if (!task.taskToken?.length) return;
      await service.respondWorkflowTaskCompleted({ taskToken: task.taskToken, ...answer(task), namespace });
      answered.push(task.workflowExecution?.workflowId ?? '');
    });
  return {
    client,
    historyOf: async (workflowId, runId) => {
      const { history } = await service.getWorkflowExecutionHistory({ namespace, execution: { workflowId, runId } });
      return history?.events ?? [];
    },
    answerById: (workflowId, activityId, result) =>
      service.respondActivityTaskCompletedById({ namespace, workflowId, activityId, result, identity: 'rogue' }),
    update: async (workflowId, name, args) => {
      const { outcome } = await service.updateWorkflowExecution({
        namespace,
        workflowExecution: { workflowId },
        waitPolicy: { lifecycleStage: 3 },
        request: {
          meta: { updateId: randomUUID(), identity: 'rogue' },
          input: { name, args: { payloads: args } },
        },
      });
      return outcome?.failure ? 'refused' : 'taken';
    },
    startAgain: (workflowId, [started]) => {
      const { workflowType, taskQueue, input } = started?.workflowExecutionStartedEventAttributes ?? {};
      return service.startWorkflowExecution({
        namespace,
        workflowId,
        workflowType,
        taskQueue,
        input,
        requestId: randomUUID(),
      });
    },
    answerActivities: (answer) => {
      let turn = 0;
      const queues = [createTaskQueue('default'), lookupTaskQueue('default')];
      return loop(6, async (answered) => {
        turn += 1;
        const taskQueue = { name: queues[turn % 2] };
        const task = await service.pollActivityTaskQueue({ namespace, taskQueue, identity: 'rogue' });
        if (!task.taskToken?.length) return;
        const { taskToken } = task;
        const given = await answer(task);
        if ('result' in given) {
          await service.respondActivityTaskCompleted({ taskToken, result: { payloads: [given.result] }, namespace });
        } else {
          await service.respondActivityTaskFailed({ taskToken, failure: given.failure, namespace });
        }
        answered.push(`${task.activityType?.name} ${task.workflowExecution?.workflowId}`);
      });
    },
    answerWorkflowTasks: (commandsOf) => workflowTasks((task) => ({ commands: commandsOf(task) })),
    acceptUpdates: () =>
      workflowTasks(({ messages }) => {
        const accepted = (messages ?? []).map(acceptanceOf);
        return { commands: accepted.map(({ command }) => command), messages: accepted.map(({ message }) => message) };
      }),
  };
}
