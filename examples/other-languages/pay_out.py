"""Starts a withdrawal from Python and waits for its result: python pay_out.py withdraw.json

Reads TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE. Needs the package temporalio, 1.10 or newer. Repeating the call is safe.
"""

import asyncio
import json
import os
import sys

from temporalio.client import Client, WithStartWorkflowOperation, WorkflowUpdateFailedError
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import ApplicationError, WorkflowAlreadyStartedError


class Conflict(Exception):
    """The order of this id has another input and may be paid. Read its state before any other start."""


async def pay_out(client: Client, order_input: dict) -> dict:
    workflow_id = f"order:{order_input.get('account', 'default')}:{order_input['order']['order_id']}"
    start = WithStartWorkflowOperation(
        "withdraw",
        order_input,
        id=workflow_id,
        task_queue="payment-orders",
        id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
    )
    handle = client.get_workflow_handle(workflow_id)
    try:
        # Compares the input with the one that the order was started with.
        await client.execute_update_with_start_workflow(
            "begin", args=["withdraw", order_input], start_workflow_operation=start
        )
    except WorkflowUpdateFailedError as error:
        if isinstance(error.cause, ApplicationError) and error.cause.type == "OrderConflict":
            raise Conflict(*error.cause.details[0]) from error
        raise
    except WorkflowAlreadyStartedError as error:
        # The order has ended. The query compares in the same way.
        if fields := await handle.query("begin", args=["withdraw", order_input]):
            raise Conflict(*fields) from error
    return await handle.result()


async def main() -> None:
    client = await Client.connect(
        os.environ.get("TEMPORAL_ADDRESS", "localhost:7233"),
        namespace=os.environ.get("TEMPORAL_NAMESPACE", "default"),
    )
    with open(sys.argv[1], encoding="utf-8") as file:
        order_input = json.load(file)
    try:
        result = await pay_out(client, order_input)
    except Conflict as conflict:
        print(f"conflict: {', '.join(conflict.args)}")
        sys.exit(1)
    print(result["outcome"], result["order"]["order_uuid"])


asyncio.run(main())
