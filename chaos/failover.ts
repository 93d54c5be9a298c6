import proto from '@temporalio/proto';
import { serviceOf } from '../scripts/service-of.js';
import { openGrpcGate } from '../scripts/temporal/grpc-gate.js';
import type { AccountBook } from './account-book.js';
import type { PlannedOrder } from './inputs.js';

/** For so long, the cluster that took over lacks what the other one had sent. */
const LOST_MS = 3_000;
const REQUEST_TIMEOUT_MS = 2_000;

/**
 * A replicated namespace as the workers see it. It fails over once: orders that start right after it were sent
 * before it, and Temporal does not know.
 */
export class Failover {
  /** Ids of the orders that the cluster that went away had sent. */
  readonly sent = new Set<string>();
  #atMs: number | undefined;

  private constructor(
    /** Where workers reach Temporal. */
    readonly address: string,
    private readonly accounts: AccountBook,
    private readonly close: () => void,
  ) {}

  /** Opens the workers' way to the server at `target`. */
  static async before(target: string, accounts: AccountBook): Promise<Failover> {
    const gate = await openGrpcGate(target);
    const failover = new Failover(gate.address, accounts, () => gate.close());
    const { DescribeNamespaceResponse } = proto.temporal.api.workflowservice.v1;
    gate.changeAnswers('DescribeNamespace', (message) => {
      const answer = DescribeNamespaceResponse.toObject(DescribeNamespaceResponse.decode(message));
      const changed = DescribeNamespaceResponse.fromObject({ ...answer, ...failover.#replication() });
      return DescribeNamespaceResponse.encode(changed).finish();
    });
    return failover;
  }

  /** Fails over now. */
  begin(): void {
    this.#atMs = Date.now();
  }

  /** Sends the order as the lost cluster did, if it is of its last seconds. An answer decides nothing. */
  async sendLost({ orderId, type, input }: PlannedOrder): Promise<void> {
    if (this.#atMs === undefined || Date.now() - this.#atMs > LOST_MS) return;
    const service = await serviceOf(
      { ...this.accounts.current, url: this.accounts.current.baseUrl },
      { requestTimeoutMs: REQUEST_TIMEOUT_MS },
    );
    // That cluster's worker, too, looked before it sent.
    const looked = await service
      .orders()
      .page({ order_ids: [orderId] })
      .then(
        () => true,
        () => false,
      );
    if (!looked) return;
    this.sent.add(orderId);
    await service.createOrder(type, input.order).catch(() => undefined);
  }

  async stop(): Promise<void> {
    this.close();
  }

  #replication() {
    const at = this.#atMs;
    return {
      isGlobalNamespace: true,
      failoverVersion: at === undefined ? 1 : 2,
      failoverHistory: at === undefined ? [] : [{ failoverTime: { seconds: Math.floor(at / 1_000) } }],
    };
  }
}
