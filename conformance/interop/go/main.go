// The official Go client against fixture_server: list, call, two rounds, a prompt, a resource, a cancellation.
//
//	interop VERSION http URL
//	interop VERSION stdio COMMAND...
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func want(got, wanted string) {
	if got != wanted {
		log.Fatalf("got %q, want %q", got, wanted)
	}
}

func transport(kind string, where []string) mcp.Transport {
	if kind == "http" {
		return &mcp.StreamableClientTransport{Endpoint: where[0]}
	}
	command := exec.Command(where[0], where[1:]...)
	command.Stderr = os.Stderr
	return &mcp.CommandTransport{Command: command}
}

func main() {
	version, kind, where := os.Args[1], os.Args[2], os.Args[3:]
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Second)
	defer cancel()

	asked := 0
	running := make(chan struct{}, 1000)
	client := mcp.NewClient(&mcp.Implementation{Name: "interop", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(_ context.Context, request *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			asked++
			properties := request.Params.RequestedSchema.(map[string]any)["properties"].(map[string]any)
			content := map[string]any{}
			for field := range properties {
				content[field] = map[bool]string{true: "one", false: "two"}[asked == 1]
				if field == "name" {
					content[field] = "Ada"
				}
			}
			return &mcp.ElicitResult{Action: "accept", Content: content}, nil
		},
		ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) {
			select {
			case running <- struct{}{}:
			default:
			}
		},
	})
	session, err := client.Connect(ctx, transport(kind, where), &mcp.ClientSessionOptions{ProtocolVersion: version})
	must(err)
	want(session.InitializeResult().ProtocolVersion, version)

	call := func(name string, arguments map[string]any) string {
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: arguments})
		must(err)
		return result.Content[0].(*mcp.TextContent).Text
	}
	tools, err := session.ListTools(ctx, nil)
	must(err)
	if len(tools.Tools) <= 10 {
		log.Fatalf("only %d tools", len(tools.Tools))
	}
	want(call("echo", map[string]any{"text": "grüße"}), "echo:grüße")
	want(call("two_step", map[string]any{}), "one+two")
	want(fmt.Sprint(asked), "2")
	prompt, err := session.GetPrompt(ctx, &mcp.GetPromptParams{Name: "greet", Arguments: map[string]string{"name": "Ada"}})
	must(err)
	want(prompt.Messages[0].Content.(*mcp.TextContent).Text, "greet Ada")
	prompt, err = session.GetPrompt(ctx, &mcp.GetPromptParams{Name: "ask_prompt"})
	must(err)
	want(prompt.Messages[0].Content.(*mcp.TextContent).Text, "prompt for Ada")
	resource, err := session.ReadResource(ctx, &mcp.ReadResourceParams{URI: "test://static"})
	must(err)
	want(resource.Contents[0].Text, "static-text")

	cancelled := func() int {
		var counts map[string]int
		must(json.Unmarshal([]byte(call("stats", map[string]any{})), &counts))
		return counts["slow_cancelled"]
	}
	before := cancelled()
	slow, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		params := &mcp.CallToolParams{Name: "slow", Arguments: map[string]any{"ms": 20000}}
		params.SetProgressToken("slow")
		_, err := session.CallTool(slow, params)
		ended <- err
	}()
	<-running
	stop()
	if err := <-ended; err == nil {
		log.Fatal("the cancelled call returned a result")
	}
	for cancelled() == before {
		must(ctx.Err())
		time.Sleep(50 * time.Millisecond)
	}
	must(session.Close())
	fmt.Printf("Go %s %s: list, call, two rounds, prompt, resource, cancellation\n", version, kind)
}
