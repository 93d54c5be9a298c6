// Starts a withdrawal from Go and waits for its result: go run . ../../withdraw.json
// Reads TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE. Repeating the call is safe.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
)

// Input of an order, as a JSON object.
type Input map[string]any

// Result of an order, without the fields that this program does not read.
type Result struct {
	Outcome string `json:"outcome"`
	Order   struct {
		UUID string `json:"order_uuid"`
	} `json:"order"`
}

// Conflict: the order of this id has another input and may be paid. Read its state before any other start.
type Conflict struct{ Fields []string }

func (c Conflict) Error() string { return "conflict: " + strings.Join(c.Fields, ", ") }

func payOut(ctx context.Context, c client.Client, input Input) (result Result, err error) {
	account, named := input["account"].(string)
	if !named {
		account = "default"
	}
	orderID := input["order"].(map[string]any)["order_id"].(string)
	id := "order:" + account + ":" + orderID
	start := c.NewWithStartWorkflowOperation(client.StartWorkflowOptions{
		ID:                       id,
		TaskQueue:                "payment-orders",
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
	}, "withdraw", input)
	// Compares the input with the one that the order was started with.
	update, err := c.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: start,
		UpdateOptions: client.UpdateWorkflowOptions{
			UpdateName:   "begin",
			Args:         []any{"withdraw", input},
			WaitForStage: client.WorkflowUpdateStageCompleted,
		},
	})
	if err == nil {
		err = update.Get(ctx, nil)
	}
	var refused *temporal.ApplicationError
	if errors.As(err, &refused) && refused.Type() == "OrderConflict" {
		var fields []string
		if err := refused.Details(&fields); err != nil {
			return result, err
		}
		return result, Conflict{fields}
	}
	var ended *serviceerror.WorkflowExecutionAlreadyStarted
	if errors.As(err, &ended) {
		// The order has ended. The query compares in the same way.
		answer, err := c.QueryWorkflow(ctx, id, "", "begin", "withdraw", input)
		if err != nil {
			return result, err
		}
		var fields []string
		if err := answer.Get(&fields); err != nil {
			return result, err
		}
		if len(fields) > 0 {
			return result, Conflict{fields}
		}
	} else if err != nil {
		return result, err
	}
	return result, c.GetWorkflow(ctx, id, "").Get(ctx, &result)
}

func run() error {
	c, err := client.Dial(client.Options{HostPort: os.Getenv("TEMPORAL_ADDRESS"), Namespace: os.Getenv("TEMPORAL_NAMESPACE")})
	if err != nil {
		return err
	}
	defer c.Close()
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		return err
	}
	var input Input
	if err := json.Unmarshal(text, &input); err != nil {
		return err
	}
	result, err := payOut(context.Background(), c, input)
	if err != nil {
		return err
	}
	fmt.Println(result.Outcome, result.Order.UUID)
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
